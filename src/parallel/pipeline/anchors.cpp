#include "parallel/pipeline/anchors.h"

#include <algorithm>
#include <map>
#include <set>

#include "heddle/op.h"

namespace heddle::pipeline {

namespace {

using When = MicroProgram::When;

void insert(std::vector<int>& sorted_nodes, int node) {
  const auto at = std::ranges::lower_bound(sorted_nodes, node);
  if (at == sorted_nodes.end() || *at != node) sorted_nodes.insert(at, node);
}

}  // namespace

Uses::Uses(const MicroProgram& micro, const std::vector<bool>& back, const std::vector<int>& nodes)
    : sources(micro.program.value_count()),
      rows(argument_rows(micro.program, micro.function)),
      forward(micro.program.value_count()) {
  const Program& program = micro.program;
  std::set<ValueId> parts;
  for (std::size_t a = 0; a < rows.size(); ++a) {
    if (a < micro.data.size() && micro.data[a]) rows[a].clear();
    for (const RowPart& part : rows[a]) parts.insert(part.value);
  }
  for (ValueId arg : program.region(micro.function.body).args) sources[arg] = {arg};
  for (OpId id : program.region(micro.function.body).ops) {
    const Op& op = program.op(id);
    std::vector<ValueId> all;
    auto look = [&](ValueId v) {
      all.insert(all.end(), sources[v].begin(), sources[v].end());
      if (micro.when[id] != When::each || back[id] || nodes[id] < 0) return;
      insert(forward[v], nodes[id]);
      for (ValueId arg : sources[v]) insert(forward[arg], nodes[id]);
    };
    for (ValueId v : program.operands(op)) look(v);
    if (op.region_count > 0)
      for (ValueId v : captured_values(program, op)) look(v);
    if (micro.when[id] != When::before) continue;
    if (op.result_count == 1 && parts.contains(program.result(op, 0)))
      all = {program.result(op, 0)};
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    for (std::size_t k = 0; k < op.result_count; ++k) sources[program.result(op, k)] = all;
  }
}

namespace {

class AnchorFinder {
 public:
  AnchorFinder(const MicroProgram& micro, const std::vector<bool>& back,
               const std::vector<int>& nodes, const CutGraph& graph, const Uses& uses)
      : micro_(micro), program_(micro.program), back_(back), nodes_(nodes), uses_(uses) {
    out_.nodes.assign(program_.op_count(), -1);
    const std::size_t count = graph.nodes.size();
    words_ = (count + 63) / 64;
    before_.assign(count * words_, 0);
    place_.assign(count, 0);
    std::vector<std::vector<int>> makers(count);
    for (const auto& [a, b] : graph.constraints()) makers[static_cast<std::size_t>(b)].push_back(a);
    row_ = sorted(graph);
    for (std::size_t i = 0; i < row_.size(); ++i) {
      const auto n = static_cast<std::size_t>(row_[i]);
      place_[n] = i;
      set(n, n);
      for (int m : makers[n])
        for (std::size_t w = 0; w < words_; ++w)
          before_[n * words_ + w] |= before_[static_cast<std::size_t>(m) * words_ + w];
    }
  }

  Anchors run() {
    for (OpId id : program_.region(micro_.function.body).ops)
      if (back_[id]) out_.nodes[id] = place(id);
    return std::move(out_);
  }

 private:
  void set(std::size_t n, std::size_t m) {
    before_[n * words_ + m / 64] |= std::uint64_t{1} << (m % 64);
  }
  // Whether `a` is `b` or comes before it.
  bool comes_before(int a, int b) const {
    const auto m = static_cast<std::size_t>(a);
    return (before_[static_cast<std::size_t>(b) * words_ + m / 64] >> (m % 64) & 1) != 0;
  }

  int place(OpId id) {
    std::set<int> candidates, limits;
    const Op& op = program_.op(id);
    if (op.def->control == Control::loop)
      if (const int node = node_of_most_bytes(op); node >= 0) return node;
    auto look = [&](ValueId v) { note(v, candidates, limits); };
    for (ValueId v : program_.operands(op)) look(v);
    if (op.region_count > 0)
      for (ValueId v : captured_values(program_, op)) look(v);
    auto fits = [&](int node) {
      return std::ranges::all_of(limits, [&](int limit) { return comes_before(node, limit); });
    };
    int best = -1;
    auto consider = [&](int node) {
      const auto at = [&](int n) { return place_[static_cast<std::size_t>(n)]; };
      if (fits(node) && (best < 0 || at(node) > at(best))) best = node;
    };
    for (int node : candidates) consider(node);
    if (best >= 0) return best;
    if (limits.empty()) return row_.back();
    for (int node : row_) consider(node);
    if (best >= 0) return best;
    // Nothing comes before all of them: what is first in the row may.
    best = *std::ranges::min_element(limits, {},
                                     [&](int n) { return place_[static_cast<std::size_t>(n)]; });
    for (int limit : limits)
      if (limit != best) out_.before.emplace_back(best, limit);
    return best;
  }

  // Of a loop, which takes all kinds of things: the node with which it has most in common, where it
  // may go there.
  int node_of_most_bytes(const Op& op) const {
    std::map<int, std::int64_t> bytes;
    std::set<int> limits;
    auto look = [&](ValueId v) {
      std::set<int> nodes;
      note(v, nodes, limits);
      for (int node : nodes) bytes[node] += micro_.bytes[v] / static_cast<int>(nodes.size());
    };
    for (ValueId v : program_.operands(op)) look(v);
    for (ValueId v : captured_values(program_, op)) look(v);
    int best = -1;
    for (const auto& [node, much] : bytes) {
      const bool fits =
          std::ranges::all_of(limits, [&](int limit) { return comes_before(node, limit); });
      if (fits && (best < 0 || much > bytes.at(best))) best = node;
    }
    return best;
  }

  void note(ValueId v, std::set<int>& candidates, std::set<int>& limits) const {
    const OpId maker = program_.value(v).op;
    if (maker != kNone && back_[maker]) {
      limits.insert(out_.nodes[maker]);
      return;
    }
    if (maker != kNone && micro_.when[maker] == When::each) candidates.insert(nodes_[maker]);
    candidates.insert(uses_.forward[v].begin(), uses_.forward[v].end());
    for (ValueId arg : uses_.sources[v])
      candidates.insert(uses_.forward[arg].begin(), uses_.forward[arg].end());
  }

  const MicroProgram& micro_;
  const Program& program_;
  const std::vector<bool>& back_;
  const std::vector<int>& nodes_;
  const Uses& uses_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> before_;  // by node: itself and those before it, as bits
  std::vector<std::size_t> place_;     // by node: in the row
  std::vector<int> row_;
  Anchors out_;
};

}  // namespace

Anchors anchors_of(const MicroProgram& micro, const std::vector<bool>& back,
                   const std::vector<int>& nodes, const CutGraph& graph, const Uses& uses) {
  return AnchorFinder(micro, back, nodes, graph, uses).run();
}

}  // namespace heddle::pipeline
