#include "parallel/again.h"

#include <algorithm>

#include "heddle/op.h"
#include "parallel/legal.h"
#include "parallel/op_parts.h"
#include "parallel/price.h"

namespace heddle {

namespace {

class AgainFinder {
 public:
  AgainFinder(OnMesh& on, const Forms& forms) : on_(on), forms_(forms) {}

  std::optional<Again> find(ValueId v, int split, double limit, int depth) {
    constexpr int kMostDepth = 8;
    const OpId id = on_.program.value(v).op;
    if (depth > kMostDepth || !is_cheap(id) || !forms_.is_from_here(v)) return std::nullopt;
    Choice choice = choice_giving(id, split);
    if (choice.results.empty() || choice.results[0] != split) return std::nullopt;
    const Op& op = on_.program.op(id);
    choice.price = price_of(on_, op, on_.rules.of(id), choice, {});
    Again again{.ops = {}, .seconds = choice.price.compute};
    for (std::size_t i = 0; i < op.operand_count; ++i)
      if (!bring(on_.program.operands(op)[i], choice.operands[i], limit, depth, again))
        return std::nullopt;
    if (again.seconds >= limit) return std::nullopt;
    again.ops.push_back({v, std::make_shared<const Choice>(std::move(choice))});
    return again;
  }

 private:
  // Element by element, or a rearrangement.
  bool is_cheap(OpId id) const {
    if (id == kNone) return false;
    const Op& op = on_.program.op(id);
    return (op.def->cls == OpClass::light || op.def->cls == OpClass::move) &&
           op.region_count == 0 && op.result_count == 1 &&
           (op.def->parts == Parts::by_rule || op.def->parts == Parts::cut) &&
           on_.program.layout_of(on_.program.result(op, 0)) == nullptr;
  }

  Choice choice_giving(OpId id, int split) {
    const IndexRule& rule = on_.rules.of(id);
    const Split& wanted = on_.splits[split];
    if (!wanted.pending.empty() || on_.rules.line(id)) return {};
    FactorAxes axes(rule.factors.size());
    for (std::size_t d = 0; d < wanted.dims.size(); ++d)
      take_axes(rule.results[0].dims[d], rule.factors, wanted.dims[d], axes);
    make_legal(on_, id, rule, axes);
    Choice choice = splits_for(on_, id, rule, std::move(axes));
    choice.way = way_of(on_.program, on_.program.op(id), rule, choice);
    const bool plain = choice.way == PartWay::whole || choice.way == PartWay::local ||
                       choice.way == PartWay::piece;
    return plain ? choice : Choice{};
  }

  bool bring(ValueId v, int split, double limit, int depth, Again& again) {
    if (!on_.type_of(v).is_tensor()) return false;
    const OpId maker = on_.program.value(v).op;
    const bool constant = maker != kNone && on_.program.op(maker).def->parts == Parts::constant;
    if (constant) return true;
    if (forms_.of(v).empty()) return false;
    const double moved = forms_.seconds_to(v, split);
    const double left = std::min(moved, limit - again.seconds);
    if (moved > 0)
      if (auto inner = find(v, split, left, depth + 1)) {
        again.ops.insert(again.ops.end(), inner->ops.begin(), inner->ops.end());
        again.seconds += inner->seconds;
        return again.seconds < limit;
      }
    again.seconds += moved;
    return again.seconds < limit;
  }

  OnMesh& on_;
  const Forms& forms_;
};

}  // namespace

std::optional<Again> computed_again(OnMesh& on, const Forms& forms, ValueId v, int split,
                                    double limit) {
  return AgainFinder(on, forms).find(v, split, limit, 0);
}

double seconds_to_have(OnMesh& on, const Forms& forms, ValueId v, int split) {
  const double moved = forms.seconds_to(v, split);
  if (moved == 0) return 0;
  const auto again = computed_again(on, forms, v, split, moved);
  return again ? again->seconds : moved;
}

}  // namespace heddle
