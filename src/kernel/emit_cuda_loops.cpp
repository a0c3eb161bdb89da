// Which loops of a stage threads may share.
#include <algorithm>
#include <numeric>
#include <optional>

#include "kernel/emit_cuda.h"

namespace heddle {

namespace {

// What is known of a value over the points of a block: a sum of loop positions times factors, and
// of something that is the same at all points; and, as with rows that data name, of a multiple of
// `unknown` that nobody knows.
struct Linear {
  std::vector<std::int64_t> factors;     // per loop
  std::optional<std::int64_t> constant;  // where the rest is known
  std::int64_t unknown = 0;
  bool uniform() const {
    return unknown == 0 && std::ranges::all_of(factors, [](std::int64_t f) { return f == 0; });
  }
};
using MaybeLinear = std::optional<Linear>;

bool writes(const Statement& statement, std::uint32_t buffer) {
  return std::ranges::count(statement.buffers, buffer) > 0;
}

class LoopStudy {
 public:
  explicit LoopStudy(const Stage& stage) : stage_(stage) {
    for (const Node& node : stage.nodes) values_.push_back(linear(node));
  }

  // The loops that an index moves with, if no two of their positions give the same index.
  std::optional<std::vector<bool>> moving(NodeId index) const {
    const MaybeLinear& value = values_[index];
    if (!value) return {};
    std::vector<bool> moves(stage_.loops.size(), false);
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // factor and size
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const std::int64_t factor = value->factors[i];
      // A loop of one position can be shared as well as any other.
      moves[i] = factor != 0 || stage_.loops[i].size <= 1;
      if (stage_.loops[i].size > 1 && factor != 0)
        steps.emplace_back(std::abs(factor), stage_.loops[i].size);
    }
    std::ranges::sort(steps);
    std::int64_t reach = 0;  // of the loops so far
    for (const auto& [factor, size] : steps) {
      if (factor <= reach) return {};
      std::int64_t span = 0;
      if (__builtin_mul_overflow(factor, size - 1, &span) ||
          __builtin_add_overflow(reach, span, &reach))
        return {};
    }
    // Rows do not overlap: what lies in one is told apart by its place there.
    if (value->unknown != 0 && reach >= value->unknown) return {};
    return moves;
  }

  // Whether it is the same at all positions of the loops that are not shared.
  bool is_same_along_others(NodeId index, const std::vector<bool>& shared) const {
    const MaybeLinear& value = values_[index];
    if (!value || value->unknown != 0) return false;
    for (std::size_t i = 0; i < shared.size(); ++i)
      if (!shared[i] && value->factors[i] != 0) return false;
    return true;
  }

 private:
  Linear same_everywhere() const {
    return {std::vector<std::int64_t>(stage_.loops.size(), 0), std::nullopt};
  }
  // A multiple of something, whatever it is.
  Linear multiple_of(std::int64_t unknown) const {
    Linear value = same_everywhere();
    value.unknown = std::abs(unknown);
    return value;
  }

  MaybeLinear linear(const Node& node) const {
    Linear value = same_everywhere();
    switch (node.kind) {
      case NodeKind::constant:
        if (node.type == DType::i64) value.constant = static_cast<std::int64_t>(node.bits);
        return value;
      case NodeKind::loop:
        value.factors[node.number] = 1;
        value.constant = 0;
        return value;
      case NodeKind::load:
        for (const Statement& statement : stage_.statements)
          if (writes(statement, node.number)) return {};
        return if_uniform(node);
      case NodeKind::scalar:
        if (node.type == DType::i64)
          if (MaybeLinear combined = combine(node)) return combined;
        return if_uniform(node);
      default:
        return value;
    }
  }

  MaybeLinear if_uniform(const Node& node) const {
    for (NodeId in : node.in)
      if (in != kNone && !(values_[in] && values_[in]->uniform())) return {};
    return same_everywhere();
  }

  MaybeLinear combine(const Node& node) const {
    const bool adds = node.op == ScalarOp::add, subtracts = node.op == ScalarOp::subtract;
    if (!adds && !subtracts && node.op != ScalarOp::multiply) return {};
    const MaybeLinear &a = values_[node.in[0]], &b = values_[node.in[1]];
    if (node.op == ScalarOp::multiply && a.has_value() != b.has_value()) {
      const Linear& factor = a ? *a : *b;
      const bool is_factor = factor.uniform() && factor.constant.value_or(0) != 0;
      return is_factor ? MaybeLinear(multiple_of(*factor.constant)) : MaybeLinear();
    }
    if (!a || !b) return {};
    if (adds || subtracts) return sum(*a, *b, subtracts ? -1 : 1);
    Linear zero = same_everywhere();
    zero.constant = 0;
    if (b->uniform() && b->constant) return sum(zero, *a, *b->constant);
    if (a->uniform() && a->constant) return sum(zero, *b, *a->constant);
    return {};
  }

  // a + factor * b
  static MaybeLinear sum(const Linear& a, const Linear& b, std::int64_t factor) {
    Linear value = a;
    auto add = [&](std::int64_t& to, std::int64_t from) {
      return !__builtin_mul_overflow(from, factor, &from) && !__builtin_add_overflow(to, from, &to);
    };
    for (std::size_t i = 0; i < value.factors.size(); ++i)
      if (!add(value.factors[i], b.factors[i])) return {};
    std::int64_t rest = a.constant.value_or(0);
    const bool known = a.constant && b.constant && add(rest, *b.constant);
    value.constant = known ? std::optional(rest) : std::nullopt;
    std::int64_t unknown = 0;
    if (!add(unknown, b.unknown)) return {};
    value.unknown = std::gcd(a.unknown, unknown);
    return value;
  }

  const Stage& stage_;
  std::vector<MaybeLinear> values_;
};

bool loads_from(const Stage& stage, const Statement& statement) {
  return std::ranges::any_of(stage.nodes, [&](const Node& node) {
    return node.kind == NodeKind::load && writes(statement, node.number);
  });
}

bool meets_another(const Stage& stage, const Statement& statement) {
  return std::ranges::any_of(stage.statements, [&](const Statement& other) {
    return &other != &statement &&
           std::ranges::any_of(other.buffers, [&](auto b) { return writes(statement, b); });
  });
}

// Whether the order of points matters for an element that several of them write or read.
bool keeps_order(const Stage& stage, const Statement& statement) {
  if (statement.kind != Statement::Kind::store || !statement.any_order) return true;
  return loads_from(stage, statement);
}

// Two statements that reach for one buffer at different places, where the order matters for one.
bool collides(const Stage& stage, const Statement& a, const Statement& b) {
  if (!keeps_order(stage, a) && !keeps_order(stage, b)) return false;
  const bool meet = std::ranges::any_of(a.buffers, [&](auto buffer) { return writes(b, buffer); });
  return meet && (a.index != b.index || a.scan_index != kNone || b.scan_index != kNone);
}

}  // namespace

std::vector<bool> shared_loops(const Stage& stage) {
  std::vector<bool> none(stage.loops.size(), false);
  std::vector<bool> shared(stage.loops.size(), true);
  const LoopStudy study(stage);
  for (const Statement& statement : stage.statements) {
    for (const Statement& other : stage.statements)
      if (&other != &statement && collides(stage, statement, other)) return none;
    if (!keeps_order(stage, statement)) continue;
    const auto moving = study.moving(statement.index);
    if (!moving) return none;
    for (std::size_t i = 0; i < shared.size(); ++i) shared[i] = shared[i] && (*moving)[i];
  }
  return shared;
}

bool has_one_element(const Stage& stage, const Statement& statement,
                     const std::vector<bool>& shared) {
  return LoopStudy(stage).is_same_along_others(statement.index, shared) &&
         !loads_from(stage, statement);
}
bool has_one_element(const Stage& stage, const Statement& statement) {
  return has_one_element(stage, statement, std::vector<bool>(stage.loops.size(), false));
}

std::optional<std::vector<bool>> accumulated_updates(const Stage& stage,
                                                     const std::vector<bool>& shared) {
  const LoopStudy study(stage);
  const auto all = std::vector<bool>(stage.loops.size(), true);
  std::vector<bool> accumulated;
  for (const Statement& statement : stage.statements) {
    accumulated.push_back(false);
    if (!keeps_order(stage, statement)) continue;
    if (study.moving(statement.index) == all) continue;  // every point has an element of its own
    const bool is_simple = statement.kind == Statement::Kind::update && statement.any_order &&
                           statement.combiner.op != ScalarOp::none &&
                           study.is_same_along_others(statement.index, shared) &&
                           !loads_from(stage, statement) && !meets_another(stage, statement);
    if (!is_simple) return {};
    accumulated.back() = true;
  }
  return accumulated;
}

}  // namespace heddle
