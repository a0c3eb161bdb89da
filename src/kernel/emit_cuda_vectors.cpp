// Which accesses of a stage several neighbouring elements may share.
#include <algorithm>
#include <numeric>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

namespace {

// factor * (position along the last loop) + a multiple of `rest`; 0: nothing more.
struct Along {
  std::int64_t factor = 0, rest = 0;
  std::optional<std::int64_t> constant = {};
};
using MaybeAlong = std::optional<Along>;

class AlongLast {
 public:
  AlongLast(const Phase& phase, const Stage& stage) : phase_(phase), stage_(stage) {
    for (const Node& node : stage.nodes) values_.push_back(of(node));
  }
  const MaybeAlong& operator[](NodeId node) const { return values_[node]; }

 private:
  MaybeAlong of(const Node& node) const {
    switch (node.kind) {
      case NodeKind::constant: {
        if (node.type != DType::i64) return Along{0, 1};
        const auto value = static_cast<std::int64_t>(node.bits);
        return Along{0, std::abs(value), value};
      }
      case NodeKind::outer:
        return Along{0, phase_.outer[node.number].block};
      case NodeKind::loop:
        return node.number + 1 == stage_.loops.size() ? Along{1, 0} : Along{0, 1};
      case NodeKind::scalar:
        if (node.type == DType::i64)
          if (MaybeAlong combined = combine(node)) return combined;
        break;
      default:
        break;
    }
    for (NodeId in : node.in)
      if (in != kNone && !(values_[in] && values_[in]->factor == 0)) return {};
    return Along{0, 1};
  }

  MaybeAlong combine(const Node& node) const {
    if (node.op != ScalarOp::add && node.op != ScalarOp::subtract && node.op != ScalarOp::multiply)
      return {};
    const MaybeAlong &a = values_[node.in[0]], &b = values_[node.in[1]];
    if (!a || !b) return {};
    if (node.op == ScalarOp::add) return Along{a->factor + b->factor, std::gcd(a->rest, b->rest)};
    if (node.op == ScalarOp::subtract)
      return Along{a->factor - b->factor, std::gcd(a->rest, b->rest)};
    const MaybeAlong& times = a->constant ? a : b;
    const Along& value = a->constant ? *b : *a;
    Along made;
    if (times->constant) {
      if (__builtin_mul_overflow(value.factor, *times->constant, &made.factor) ||
          __builtin_mul_overflow(value.rest, std::abs(*times->constant), &made.rest))
        return {};
      return made;
    }
    if (a->factor != 0 || b->factor != 0) return {};
    return Along{0, 1};
  }

  const Phase& phase_;
  const Stage& stage_;
  std::vector<MaybeAlong> values_;
};

constexpr std::int64_t kMostElements = 8;

// By node: whether all neighbours of an access have the same value, where it is a truth: borders
// that lie between accesses.
std::vector<bool> alike_in_accesses(const Stage& stage, const AlongLast& along,
                                    std::int64_t count) {
  const auto lies_evenly = [&](NodeId id, std::int64_t factor) {
    return along[id] && along[id]->factor == factor && along[id]->rest % count == 0;
  };
  std::vector<bool> alike;
  for (const Node& node : stage.nodes) {
    const auto is_alike = [&](NodeId in) { return in == kNone || alike[in]; };
    bool made = node.kind == NodeKind::scalar && node.type == DType::i1 &&
                std::ranges::all_of(node.in, is_alike);
    const NodeId a = node.in[0], b = node.in[1];
    if (node.op == ScalarOp::less || node.op == ScalarOp::greater_equal)
      made = made || (lies_evenly(a, 1) && lies_evenly(b, 0));
    if (node.op == ScalarOp::greater || node.op == ScalarOp::less_equal)
      made = made || (lies_evenly(a, 0) && lies_evenly(b, 1));
    const auto id = static_cast<NodeId>(alike.size());
    alike.push_back(made || (along[id] && along[id]->factor == 0));
  }
  return alike;
}

}  // namespace

CudaVectors cuda_vectors(const Kernel& kernel, const Phase& phase, const Stage& stage, int wanted) {
  CudaVectors vectors;
  vectors.loads.assign(stage.nodes.size(), false);
  vectors.stores.assign(stage.statements.size(), false);
  if (stage.loops.empty()) return vectors;
  const StageLoop& last = stage.loops.back();
  const bool may_be_short =
      last.block_of >= 0 && phase.outer[static_cast<std::size_t>(last.block_of)].extent %
                                    phase.outer[static_cast<std::size_t>(last.block_of)].block !=
                                0;
  if (may_be_short) return vectors;
  const AlongLast along(phase, stage);
  const auto bytes_of = [&](std::uint32_t buffer) {
    return static_cast<std::int64_t>(byte_size(kernel.buffers[buffer].dtype));
  };
  const auto is_next = [&](NodeId index) { return along[index] && along[index]->factor == 1; };
  // As many as fill an access of the narrowest, and divide all that has to be divided.
  std::int64_t narrowest = kCudaAccess;
  for (const Node& node : stage.nodes)
    if (node.kind == NodeKind::load && is_next(node.in[0]))
      narrowest = std::min(narrowest, bytes_of(node.number));
  for (const Statement& statement : stage.statements)
    if (statement.kind == Statement::Kind::store && statement.guard == kNone &&
        is_next(statement.index))
      narrowest = std::min(narrowest, bytes_of(statement.buffers[0]));
  std::int64_t count = wanted > 0 ? wanted : std::min(kCudaAccess / narrowest, kMostElements);
  while (count > 1 && last.size % count != 0) count /= 2;
  if (count <= 1) return vectors;
  const auto fits = [&](NodeId index) { return is_next(index) && along[index]->rest % count == 0; };
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    const Node& node = stage.nodes[i];
    vectors.loads[i] = node.kind == NodeKind::load && fits(node.in[0]);
  }
  vectors.alike = alike_in_accesses(stage, along, count);
  for (std::size_t s = 0; s < stage.statements.size(); ++s) {
    const Statement& statement = stage.statements[s];
    const bool is_scan = statement.kind == Statement::Kind::scan;
    vectors.stores[s] = (is_scan || statement.kind == Statement::Kind::store) &&
                        statement.guard == kNone &&
                        fits(is_scan ? statement.scan_index : statement.index);
  }
  const bool any =
      std::ranges::count(vectors.loads, true) + std::ranges::count(vectors.stores, true) > 0;
  if (any || wanted > 0) vectors.count = static_cast<int>(count);
  return vectors;
}

}  // namespace heddle
