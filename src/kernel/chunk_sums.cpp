#include "kernel/chunk_sums.h"

#include <algorithm>

#include "kernel/reduce_scalar.h"

namespace heddle {

namespace {

using chunks::Chunk;
using chunks::ChunkOp;
using chunks::ChunkProgram;
using chunks::Lane;
using Kind = ChunkOp::Kind;

bool takes_message(const ChunkOp& op) {
  return op.channel != kNone && (op.kind == Kind::receive || op.kind == Kind::reduce);
}
bool overlap(const Chunk& a, const Chunk& b) {
  return a.buffer == b.buffer && a.buffer != kNone && a.first < b.end() && b.first < a.end();
}

class SumSearch {
 public:
  explicit SumSearch(const ChunkProgram& program) : program_(program) {}

  std::optional<ChunkSums> run() {
    for (const Lane& lane : program_.lanes)
      if (!search(lane)) return std::nullopt;
    if (found_.order.empty() || !ends()) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool search(const Lane& lane) {
    ChunkSums::LaneSums sums;
    sums.gone.resize(lane.ops.size(), false);
    sums.messages.resize(lane.ops.size());
    for (std::size_t f = 0; f < lane.ops.size(); ++f)
      if (lane.ops[f].function == chunks::Function::finish && !take(lane, f, sums)) return false;
    found_.lanes.push_back(std::move(sums));
    return true;
  }

  // All that makes what a `finish` reads.
  bool take(const Lane& lane, std::size_t finish, ChunkSums::LaneSums& sums) {
    const ChunkOp& op = lane.ops[finish];
    if (op.reads.size() != 1) return false;
    const Chunk& sum = op.reads[0];
    std::vector<int> order;
    for (std::size_t i = 0; i < lane.ops.size(); ++i) {
      const ChunkOp& other = lane.ops[i];
      if (i == finish) continue;
      const bool reads =
          std::ranges::any_of(other.reads, [&](const Chunk& chunk) { return overlap(chunk, sum); });
      if (reads || (overlap(other.from, sum) && !(overlap(other.to, sum)))) return false;
      if (!overlap(other.to, sum)) continue;
      if (other.to != sum || i > finish || !add(lane, i, sum, order)) return false;
      sums.gone[i] = true;
      if (takes_message(other))
        sums.messages[finish].push_back({other.channel, number_of(lane, i)});
    }
    if (found_.order.empty()) found_.order = order;
    return order.size() == static_cast<std::size_t>(program_.ranks) && order == found_.order;
  }

  // Whose parts an op adds to the sum. All of them are the same chunk of what ranks were given.
  bool add(const Lane& lane, std::size_t i, const Chunk& sum, std::vector<int>& order) const {
    const ChunkOp& op = lane.ops[i];
    const auto is_given = [&](const Chunk& chunk) {
      return chunk.first == sum.first && chunk.count == sum.count &&
             program_.buffers[chunk.buffer].given;
    };
    if (op.kind == Kind::reduce && op.channel == kNone) {
      if (order.empty() || !is_given(op.from)) return false;
      order.push_back(lane.rank);
      return true;
    }
    if (op.kind == Kind::copy || (op.kind == Kind::reduce && op.from != sum)) {
      if (!order.empty() || !is_given(op.from)) return false;
      order.push_back(lane.rank);
    }
    if (op.kind == Kind::copy) return true;
    if (!takes_message(op)) return false;
    if (op.kind == Kind::receive ? !order.empty() : order.empty()) return false;
    const chunks::Channel& channel = program_.channels[op.channel];
    if (channel.protocol != chunks::Protocol::direct ||
        !is_given(sent(op.channel, number_of(lane, i))))
      return false;
    order.push_back(channel.from);
    return true;
  }

  static std::int64_t number_of(const Lane& lane, std::size_t i) {
    return std::count_if(
        lane.ops.begin(), lane.ops.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const ChunkOp& op) { return takes_message(op) && op.channel == lane.ops[i].channel; });
  }
  Chunk sent(std::uint32_t channel, std::int64_t number) const {
    for (const Lane& lane : program_.lanes)
      for (const ChunkOp& op : lane.ops)
        if (op.kind == Kind::send && op.channel == channel && number-- == 0) return op.from;
    return {};
  }

  // Runs it, since taking messages later may keep those waiting who send the next ones. One order
  // is enough: what can be done stays possible.
  bool ends() const {
    std::vector<std::size_t> at(program_.lanes.size(), 0);
    std::vector<std::int64_t> sent(program_.channels.size(), 0), taken = sent;
    std::vector<std::int64_t> counted(program_.counters.size(), 0);
    const auto may = [&](std::size_t l) {
      const ChunkOp& op = program_.lanes[l].ops[at[l]];
      const ChunkSums::LaneSums& sums = found_.lanes[l];
      if (sums.gone[at[l]]) return true;
      for (const ChunkSums::Message& m : sums.messages[at[l]])
        if (taken[m.channel] != m.number || sent[m.channel] <= m.number) return false;
      if (op.kind == Kind::send)
        return sent[op.channel] - taken[op.channel] < program_.channels[op.channel].slots;
      if (takes_message(op))
        return sent[op.channel] > taken[op.channel] &&
               number_of(program_.lanes[l], at[l]) == taken[op.channel];
      if (op.kind == Kind::wait)
        return op.channel != kNone ? taken[op.channel] >= op.value
                                   : counted[op.counter] >= op.value;
      return true;
    };
    const auto step = [&](std::size_t l) {
      const ChunkOp& op = program_.lanes[l].ops[at[l]];
      for (const ChunkSums::Message& m : found_.lanes[l].messages[at[l]]) ++taken[m.channel];
      if (!found_.lanes[l].gone[at[l]]) {
        if (op.kind == Kind::send) ++sent[op.channel];
        if (takes_message(op)) ++taken[op.channel];
        if (op.kind == Kind::signal) ++counted[op.counter];
      }
      ++at[l];
    };
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t l = 0; l < program_.lanes.size(); ++l)
        for (; at[l] < program_.lanes[l].ops.size() && may(l); goes_on = true) step(l);
    }
    for (std::size_t l = 0; l < program_.lanes.size(); ++l)
      if (at[l] < program_.lanes[l].ops.size()) return false;
    return true;
  }

  const ChunkProgram& program_;
  ChunkSums found_;
};

// The same stage, with a sum in place of each load.
class StageWithSums {
 public:
  StageWithSums(std::uint32_t sum, std::uint32_t first, int parts, ScalarOp op, DType type)
      : sum_(sum), first_(first), parts_(parts), op_(op), type_(type) {}

  bool rewrite(Stage& stage) {
    std::vector<NodeId> now;
    for (const Node& node : stage.nodes) {
      Node moved = node;
      for (NodeId& in : moved.in)
        if (in != kNone) in = now[in];
      const bool is_sum = node.kind == NodeKind::load && node.number == sum_;
      if (is_sum && moved.in[1] != kNone) return false;
      now.push_back(is_sum ? add_up(moved) : put(moved));
    }
    stage.nodes = std::move(nodes_);
    for (Statement& statement : stage.statements) {
      if (std::ranges::find(statement.buffers, sum_) != statement.buffers.end()) return false;
      for (NodeId* id : {&statement.index, &statement.guard, &statement.scan_index})
        if (*id != kNone) *id = now[*id];
      for (NodeId& value : statement.values) value = now[value];
    }
    return true;
  }

 private:
  NodeId put(const Node& node) {
    nodes_.push_back(node);
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  NodeId add_up(Node load) {
    load.number = first_;
    NodeId sum = put(load);
    for (int p = 1; p < parts_; ++p) {
      load.number = first_ + static_cast<std::uint32_t>(p);
      const NodeId part = put(load);
      Node both{.kind = NodeKind::scalar, .op = op_, .type = type_};
      both.in = {sum, part, kNone};
      sum = put(both);
    }
    return sum;
  }

  const std::uint32_t sum_, first_;
  const int parts_;
  const ScalarOp op_;
  const DType type_;
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<ChunkSums> chunk_sums(const ChunkProgram& program) {
  return SumSearch(program).run();
}

std::optional<Kernel> with_sum_inside(const Kernel& kernel, std::uint32_t sum, int parts,
                                      ReduceOp op) {
  const KernelBuffer of_sum = kernel.buffers[sum];
  if (of_sum.dtype != DType::f32 && of_sum.dtype != DType::f64) return std::nullopt;
  if (of_sum.reach != Reach::input) return std::nullopt;
  Kernel made = kernel;
  const auto first = static_cast<std::uint32_t>(made.buffers.size());
  for (int p = 0; p < parts; ++p) {
    made.buffers.push_back(of_sum);
    made.buffers.back().value = kNone;
  }
  for (Phase& phase : made.phases)
    for (auto* stages : {&phase.begin, &phase.stages})
      for (Stage& stage : *stages)
        if (!StageWithSums(sum, first, parts, scalar_of(op), of_sum.dtype).rewrite(stage))
          return std::nullopt;
  return made;
}

}  // namespace heddle
