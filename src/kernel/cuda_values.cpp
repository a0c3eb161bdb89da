// Values that several stages of a row compute alike: one computes them, the others find them.
#include <algorithm>
#include <map>

#include "kernel/cuda_resident.h"

namespace heddle {

namespace {

constexpr int kWorthKeeping = 4;  // about so many instructions a point

// About how many instructions an operation takes.
int instructions(const Node& node) {
  if (node.kind == NodeKind::load) return node.type == DType::i1 ? 2 : 0;  // a byte to be asked
  if (node.kind != NodeKind::scalar) return 0;
  return is_heavy(node.op) || node.op == ScalarOp::divide ? 8 : 1;
}

// Gives nodes of all stages numbers: equal ones have equal values at the same point.
class Numbering {
 public:
  Numbering(const Kernel& kernel, const CudaResident& resident)
      : versions_(kernel.buffers.size(), 0) {
    for (const Stage& stage : resident.phase.stages) number(resident, stage);
  }
  int at(std::size_t stage, NodeId node) const { return numbers_[stage][node]; }

 private:
  using Key = std::array<std::uint64_t, 8>;

  void number(const CudaResident& resident, const Stage& stage) {
    const auto loops = tile_loops(stage);
    std::vector<bool> written(versions_.size(), false);
    for (const Statement& statement : stage.statements)
      for (std::uint32_t b : statement.buffers) written[b] = true;
    std::vector<int>& numbers = numbers_.emplace_back();
    for (const Node& node : stage.nodes) {
      Key key{static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.op),
              static_cast<std::uint64_t>(node.type), node.number, node.bits};
      for (std::size_t k = 0; k < node.in.size(); ++k)
        key[5 + k] = node.in[k] == kNone ? 0 : static_cast<std::uint64_t>(numbers[node.in[k]]) + 1;
      if (node.kind == NodeKind::loop) {
        const auto at = std::ranges::find(loops, std::size_t{node.number});
        key[3] = at == loops.end() ? resident.tile.size()
                                   : static_cast<std::uint64_t>(at - loops.begin());
      }
      if (node.kind == NodeKind::load)
        // What the stage itself writes is like nothing else.
        key[4] = written[node.number] ? UINT64_MAX - fresh_++ : versions_[node.number];
      numbers.push_back(known_.emplace(key, static_cast<int>(known_.size())).first->second);
    }
    for (std::size_t b = 0; b < written.size(); ++b)
      if (written[b]) ++versions_[b];
  }

  std::map<Key, int> known_;
  std::vector<std::vector<int>> numbers_;  // by stage, by node
  std::vector<std::uint64_t> versions_;    // by buffer: how often it was written
  std::uint64_t fresh_ = 0;
};

class Values {
 public:
  Values(const Kernel& kernel, const CudaResident& resident)
      : phase_(resident.phase), numbering_(kernel, resident) {
    for (std::size_t s = 0; s < phase_.stages.size(); ++s)
      if (has_points(resident, phase_.stages[s])) look_at(s);
  }
  std::vector<CudaKeptValue> take() {
    std::vector<CudaKeptValue> values;
    for (auto& [number, value] : chosen_) values.push_back(std::move(value));
    return values;
  }

 private:
  void look_at(std::size_t s) {
    const Stage& stage = phase_.stages[s];
    const auto along = differs_along_row(stage);
    std::vector<int> cost;
    for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
      int all = along[i] ? instructions(stage.nodes[i]) : 0;
      for (NodeId in : stage.nodes[i].in)
        if (in != kNone && stage.nodes[i].type != DType::i64) all += cost[in];
      cost.push_back(std::min(all, 1000));
    }
    std::vector<bool> found(stage.nodes.size(), false);
    for (bool again = true; again;) {  // what is found hides what it is made of
      again = false;
      const auto live = live_nodes(stage, found);
      for (std::size_t i = stage.nodes.size(); i-- > 0 && !again;) {
        const Node& node = stage.nodes[i];
        if (!live[i] || found[i] || !along[i] || node.kind != NodeKind::scalar ||
            node.type == DType::i64 || cost[i] < kWorthKeeping)
          continue;
        const auto before = first_.find(numbering_.at(s, static_cast<NodeId>(i)));
        if (before == first_.end()) continue;
        choose(s, static_cast<NodeId>(i), before->second);
        found[i] = again = true;
      }
    }
    const auto live = live_nodes(stage, found);
    for (std::size_t i = 0; i < stage.nodes.size(); ++i)
      if (live[i] && !found[i])
        first_.emplace(numbering_.at(s, static_cast<NodeId>(i)), std::pair(s, NodeId(i)));
  }

  void choose(std::size_t s, NodeId node, std::pair<std::size_t, NodeId> before) {
    CudaKeptValue& value = chosen_[numbering_.at(s, node)];
    value.type = phase_.stages[s].nodes[node].type;
    value.nodes.resize(phase_.stages.size(), kNone);
    value.nodes[before.first] = before.second;
    value.nodes[s] = node;
  }

  const Phase& phase_;
  const Numbering numbering_;
  std::map<int, std::pair<std::size_t, NodeId>> first_;  // by number: where it is computed
  std::map<int, CudaKeptValue> chosen_;
};

}  // namespace

std::size_t CudaKeptValue::first() const {
  return static_cast<std::size_t>(
      std::ranges::find_if(nodes, [](NodeId node) { return node != kNone; }) - nodes.begin());
}

std::vector<CudaKeptValue> cuda_kept_values(const Kernel& kernel, const CudaResident& resident) {
  return Values(kernel, resident).take();
}

std::vector<bool> known_nodes(const CudaResident& resident, std::size_t stage) {
  std::vector<bool> known(resident.phase.stages[stage].nodes.size(), false);
  for (const CudaKeptValue& value : resident.values)
    if (value.nodes[stage] != kNone && value.first() < stage) known[value.nodes[stage]] = true;
  return known;
}

}  // namespace heddle
