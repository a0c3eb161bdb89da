#include "parallel/pipeline/program_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "heddle/op.h"
#include "parallel/pipeline/cut.h"
#include "parallel/pipeline/homes.h"

namespace heddle::pipeline {

namespace {

using When = MicroProgram::When;

// The way forward is made coarse before anything is compared with it.
constexpr std::size_t kMostForward = 1024;

class GraphMaker {
 public:
  explicit GraphMaker(const MicroProgram& micro)
      : micro_(micro), program_(micro.program), ops_(program_.region(micro.function.body).ops) {}

  ProgramGraph run(std::size_t most_nodes) {
    back_ = way_back(micro_);
    const CutGraph forward = make_forward();
    const Uses uses(micro_, back_, nodes_);
    const Anchors anchors = anchors_of(micro_, back_, nodes_, forward, uses);
    for (OpId id : ops_)
      if (back_[id]) nodes_[id] = anchors.nodes[id];
    CutGraph all;
    all.nodes.resize(forward.nodes.size());
    all.before = anchors.before;
    add_ops(all);
    add_values(all);
    const Homes homes = homes_of(micro_, nodes_, uses);
    add_residents(all, homes, uses);
    return finished(all, homes, most_nodes);
  }

  // As it is cut: every virtual stage is one node.
  CutGraph run_on(const StageCut& cut) {
    back_.assign(program_.op_count(), false);
    nodes_.assign(program_.op_count(), -1);
    for (OpId id : ops_) {
      const int position = cut.position_of(id);
      if (micro_.when[id] != When::each || position < 0) continue;
      back_[id] = position >= cut.shape.virtual_stages();
      nodes_[id] = cut.shape.virtual_stage_of(position);
    }
    CutGraph all;
    all.nodes.resize(static_cast<std::size_t>(cut.shape.virtual_stages()));
    add_ops(all);
    add_values(all);
    const Uses uses(micro_, back_, nodes_);
    add_residents(all, homes_of(micro_, nodes_, uses), uses);
    return all;
  }

 private:
  // Every op of the way forward is a node, then small ones are joined.
  CutGraph make_forward() {
    CutGraph fine;
    nodes_.assign(program_.op_count(), -1);
    for (OpId id : ops_) {
      if (micro_.when[id] != When::each || back_[id] || id == ops_.back()) continue;
      nodes_[id] = static_cast<int>(fine.nodes.size());
      fine.nodes.push_back({micro_.seconds[id], 0, 0, 0});
    }
    if (fine.nodes.empty()) fine.nodes.emplace_back();
    add_values(fine);
    Merged coarse = coarsened(fine, kMostForward);
    for (int& node : nodes_)
      if (node >= 0) node = coarse.node_of[static_cast<std::size_t>(node)];
    return std::move(coarse.graph);
  }

  void add_ops(CutGraph& graph) const {
    for (OpId id : ops_) {
      if (nodes_[id] < 0) continue;
      CutGraph::Node& node = graph.nodes[static_cast<std::size_t>(nodes_[id])];
      const Op& op = program_.op(id);
      std::int64_t bytes = 0;
      for (ValueId v : program_.operands(op)) bytes += own_bytes(v);
      for (std::size_t k = 0; k < op.result_count; ++k) bytes += own_bytes(program_.result(op, k));
      (back_[id] ? node.backward : node.forward) += micro_.seconds[id];
      std::int64_t& most = back_[id] ? node.while_backward : node.while_forward;
      most = std::max(most, bytes);
    }
    add_held_back(graph);
  }

  // What the way back has made and still needs: gradients, and what is computed again.
  void add_held_back(CutGraph& graph) const {
    std::vector<int> uses(program_.value_count(), 0);
    for (OpId id : ops_)
      if (back_[id])
        for (ValueId v : program_.operands(program_.op(id))) ++uses[v];
    std::int64_t held = 0;
    for (OpId id : ops_) {
      if (!back_[id] || nodes_[id] < 0) continue;
      const Op& op = program_.op(id);
      for (std::size_t k = 0; k < op.result_count; ++k)
        if (const ValueId v = program_.result(op, k); uses[v] > 0) held += own_bytes(v);
      std::int64_t& most = graph.nodes[static_cast<std::size_t>(nodes_[id])].while_backward;
      most = std::max(most, held);
      for (ValueId v : program_.operands(op)) {
        const OpId maker = program_.value(v).op;
        if (--uses[v] == 0 && maker != kNone && back_[maker]) held -= own_bytes(v);
      }
    }
  }

  std::int64_t own_bytes(ValueId v) const { return micro_.inside[v] ? 0 : micro_.bytes[v]; }

  // Values between nodes, and those that are kept for the way back; equal ones as one.
  void add_values(CutGraph& graph) const {
    using Key = std::tuple<int, bool, bool, std::vector<int>, std::vector<int>>;
    std::vector<std::set<int>> forward(program_.value_count()), backward(program_.value_count());
    std::vector<bool> kept(program_.value_count(), false);
    for (OpId id : ops_) {
      if (nodes_[id] < 0) continue;
      const Op& op = program_.op(id);
      auto use = [&](ValueId v) {
        (back_[id] ? backward : forward)[v].insert(nodes_[id]);
        if (back_[id]) keep(v, kept);
      };
      for (ValueId v : program_.operands(op)) use(v);
      if (op.region_count > 0)
        for (ValueId v : captured_values(program_, op)) use(v);
    }
    std::map<Key, std::int64_t> values;
    for (OpId id : ops_) {
      if (nodes_[id] < 0) continue;
      const Op& op = program_.op(id);
      for (std::size_t k = 0; k < op.result_count; ++k) {
        const ValueId v = program_.result(op, k);
        const std::set<int>&f = forward[v], &b = backward[v];
        auto leaves = [&](const std::set<int>& users) {
          return std::ranges::any_of(users, [&](int n) { return n != nodes_[id]; });
        };
        const bool stays = kept[v] && !back_[id];
        if (!leaves(f) && !leaves(b) && !stays) continue;
        values[{nodes_[id], back_[id], stays, {f.begin(), f.end()}, {b.begin(), b.end()}}] +=
            micro_.bytes[v];
      }
    }
    for (const auto& [key, bytes] : values) {
      const auto& [maker, of_backward, stays, f, b] = key;
      graph.values.push_back({maker, of_backward, stays, bytes, f, b});
    }
  }

  // What is read through a view, or inside of a kernel, is kept instead of that.
  void keep(ValueId v, std::vector<bool>& kept) const {
    const OpId maker = program_.value(v).op;
    if (maker == kNone || kept[v] || back_[maker] || micro_.when[maker] != When::each) return;
    if (!micro_.inside[v]) {
      kept[v] = true;
      return;
    }
    for (ValueId source : program_.operands(program_.op(maker))) keep(source, kept);
  }

  void add_residents(CutGraph& graph, const Homes& homes, const Uses& uses) {
    const std::vector<ValueId>& args = program_.region(micro_.function.body).args;
    // Who uses an argument, or what is made once.
    std::vector<std::set<int>> users(program_.value_count());
    for (OpId id : ops_) {
      if (micro_.when[id] != When::each || nodes_[id] < 0) continue;
      for (ValueId v : program_.operands(program_.op(id))) {
        users[v].insert(nodes_[id]);
        for (ValueId arg : uses.sources[v]) users[arg].insert(nodes_[id]);
      }
    }
    std::set<ValueId> rows;
    const auto add = [&](std::size_t a, ValueId v) {
      std::set<int>& all = users[v];
      if (all.empty() && homes.values[v] >= 0) all.insert(homes.values[v]);
      graph.residents.push_back({micro_.bytes[v], micro_.bytes[v], 0, {all.begin(), all.end()}});
      argument_of_.push_back(a);
    };
    for (std::size_t a = 0; a < args.size(); ++a) {
      if (micro_.data[a]) continue;
      if (uses.rows[a].empty()) add(a, args[a]);
      for (const RowPart& part : uses.rows[a]) {
        add(a, part.value);
        rows.insert(part.value);
      }
    }
    for (OpId id : ops_) {
      const Op& op = program_.op(id);
      const bool sum =
          micro_.when[id] == When::each && back_[id] && nodes_[id] >= 0 && is_taken_after(op);
      if (micro_.when[id] == When::before || sum)
        for (std::size_t k = 0; k < op.result_count; ++k) {
          const ValueId v = program_.result(op, k);
          if (rows.contains(v)) continue;
          std::set<int> all = users[v];
          if (sum) all = {nodes_[id]};
          graph.residents.push_back({sum ? micro_.bytes[v] : own_bytes(v),
                                     0,
                                     k == 0 && !sum ? micro_.seconds[id] : 0,
                                     {all.begin(), all.end()}});
        }
      if (micro_.when[id] == When::after && homes.ops[id] >= 0)
        graph.residents.push_back({0, 0, micro_.seconds[id], {homes.ops[id]}});
    }
  }

  // Whether a value of it lies there until all micro-batches are through.
  bool is_taken_after(const Op& op) const {
    for (std::size_t k = 0; k < op.result_count; ++k)
      if (after_takes(program_.result(op, k))) return true;
    return false;
  }
  bool after_takes(ValueId v) const {
    if (taken_.empty()) {
      taken_.assign(program_.value_count(), false);
      for (OpId id : ops_)
        if (micro_.when[id] == When::after || id == ops_.back())
          for (ValueId operand : program_.operands(program_.op(id))) taken_[operand] = true;
    }
    return taken_[v];
  }

  ProgramGraph finished(const CutGraph& all, const Homes& homes, std::size_t most_nodes) {
    const Merged straight = without_circles(all);
    Merged coarse = coarsened(straight.graph, most_nodes);
    auto final_node = [&](int node) {
      if (node < 0) return -1;
      const int once = straight.node_of[static_cast<std::size_t>(node)];
      return coarse.node_of[static_cast<std::size_t>(once)];
    };
    ProgramGraph out;
    out.graph = std::move(coarse.graph);
    out.on_way_back = back_;
    out.backward = std::ranges::find(back_, true) != back_.end();
    for (OpId id = 0; id < nodes_.size(); ++id)
      out.nodes.push_back(final_node(std::max(nodes_[id], homes.ops[id])));
    for (int node : homes.arguments) out.argument_nodes.push_back(final_node(node));
    out.argument_of = argument_of_;
    return out;
  }

  const MicroProgram& micro_;
  const Program& program_;
  const std::vector<OpId>& ops_;
  std::vector<bool> back_;  // by OpId
  std::vector<int> nodes_;  // by OpId
  std::vector<std::size_t> argument_of_;
  mutable std::vector<bool> taken_;  // by ValueId: by what comes after, or the caller
};

}  // namespace

ProgramGraph graph_of(const MicroProgram& micro, std::size_t most_nodes) {
  return GraphMaker(micro).run(most_nodes);
}

Expected<PipelineTimes> times_of(const MicroProgram& micro, const StageCut& cut, const Link& link) {
  const CutGraph graph = GraphMaker(micro).run_on(cut);
  Stages stages(graph.nodes.size());
  std::iota(stages.begin(), stages.end(), 0);
  HEDDLE_TRY(const PipelineOrder order, pipeline_order(cut.shape));
  return time_pipeline(cut.shape, order, costs_of({graph, cut.shape, link}, stages));
}

StageCut cut_of(const MicroProgram& micro, const ProgramGraph& graph, const PipelineShape& shape,
                const Stages& stages) {
  StageCut cut;
  cut.shape = shape;
  cut.positions.assign(graph.nodes.size(), -1);
  for (OpId id : micro.program.region(micro.function.body).ops) {
    if (graph.nodes[id] < 0) continue;
    const int stage = stages[static_cast<std::size_t>(graph.nodes[id])];
    cut.positions[id] = micro.when[id] == When::after ? shape.positions() + stage % shape.stages
                        : graph.on_way_back[id]       ? 2 * shape.virtual_stages() - 1 - stage
                                                      : stage;
  }
  for (int node : graph.argument_nodes)
    cut.arguments.push_back(node < 0 ? -1 : stages[static_cast<std::size_t>(node)] % shape.stages);
  return cut;
}

}  // namespace heddle::pipeline
