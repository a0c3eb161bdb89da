#include "stitch/longer_rows.h"

#include <array>
#include <numeric>
#include <unordered_set>

#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/attr_access.h"
#include "stitch/fold_moves.h"
#include "stitch/product_plan.h"

namespace heddle {

namespace {

// Sums of fewer terms, in multiples, stay: what is added would be a good part of them.
constexpr std::int64_t kFewMultiples = 4;

std::int64_t rounded_up(std::int64_t size, std::int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

// A dimension of a value that gets more elements.
struct Longer {
  ValueId value = kNone;
  std::size_t dim = 0;
  std::int64_t size = 0;
};

// A product that would take so much less time if these lay so.
struct Wish {
  double seconds = 0;
  std::vector<Longer> all;
  const Op* product = nullptr;  // of longer sums; null where they stay
  std::int64_t terms = 0;
};

class Chooser {
 public:
  Chooser(const Program& program, const DeviceCalls& calls, const MachineFigures& machine)
      : program_(program), calls_(calls), machine_(machine) {
    for (const Function& f : program.functions)
      if (f.body != kNone) look_at(f.body);
    while (choose()) {
    }
  }

  LongerRows take() { return std::move(rows_); }

 private:
  void look_at(RegionId region) {
    const FoldedMoves moves = fold_moves(program_, region, calls_);
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      for (RegionId inner : program_.regions(op)) look_at(inner);
      const bool is_call = is_product_call(program_, op, calls_);
      // Kernels and products leave out what lies between rows; others need them together.
      if (!is_call && !is_stitchable(program_, op, &calls_))
        wanted_together_.insert(program_.operands(op).begin(), program_.operands(op).end());
      if (!is_call) continue;
      const EvenRows even = calls_.even_rows(program_, op);
      if (even.multiple <= 1) continue;
      const auto folded = moves.products.find(id);
      add_wish(op, folded != moves.products.end() ? folded->second : dense_views(program_, op),
               even);
    }
  }

  void add_wish(const Op& op, const ProductViews& views, const EvenRows& even) {
    const auto plan = plan_product(program_, op, views);
    if (!plan || plan->sides[0].copied || plan->sides[1].copied) return;
    Wish wish{.seconds = even.seconds, .all = {}};
    bool is_possible = views.result.value == op.results || plan->ldc % even.multiple == 0;
    std::int64_t common = even.multiple;
    const auto add = [&](ValueId value, std::int64_t apart) {
      if (apart % even.multiple == 0) return;
      const Type& type = program_.type_of(value);
      // Rows of the value itself, and not several of its dimensions in one.
      if (type.rank() < 2 || type.shape.back() != apart) {
        is_possible = false;
        return;
      }
      common = std::gcd(common, apart);
      wish.all.push_back({value, type.rank() - 1, rounded_up(apart, even.multiple)});
    };
    add(views.lhs.value, plan->swapped ? plan->ldb : plan->lda);
    add(views.rhs.value, plan->swapped ? plan->lda : plan->ldb);
    add(views.result.value, plan->ldc);
    const bool sums_along_rows = !plan->transpose_a || plan->transpose_b;
    if (sums_along_rows && plan->k % even.multiple != 0 &&
        plan->k > kFewMultiples * even.multiple) {
      common = std::gcd(common, plan->k);
      is_possible = is_possible && add_sum(op, plan->k, even.multiple, wish);
    }
    wish.seconds /= static_cast<double>(common);  // rows of twice an odd number are not as slow
    if (is_possible && !wish.all.empty()) wishes_.push_back(std::move(wish));
  }

  // Both operands get zeros behind what is summed up. What a product writes behind its rows is no
  // zero where it has read an infinity.
  bool add_sum(const Op& op, std::int64_t terms, std::int64_t multiple, Wish& wish) const {
    const ProductDims dims = product_dims(program_, op);
    if (dims.lhs_sum.size() != 1) return false;
    wish.product = &op;
    wish.terms = rounded_up(terms, multiple);
    const auto operands = program_.operands(op);
    for (const auto& [operand, dim] :
         {std::pair(operands[0], dims.lhs_sum[0]), std::pair(operands[1], dims.rhs_sum[0])}) {
      const PlaceToPad place = place_to_pad(program_, operand, dim);
      const Op* maker = maker_of(place.value);
      if (maker != nullptr && is_product_call(program_, *maker, calls_)) return false;
      wish.all.push_back({place.value, place.dim, wish.terms});
    }
    return true;
  }

  // Grants what is worth its price; what one product has paid for is free for the next.
  bool choose() {
    bool has_changed = false;
    for (const Wish& wish : wishes_) {
      double price = 0;
      for (std::size_t i = 0; i < wish.all.size(); ++i)
        if (!is_repeated(wish, i)) price += seconds_for(wish.all[i]);
      if (price >= wish.seconds) continue;
      for (const Longer& longer : wish.all) has_changed |= grant(longer);
      if (wish.product != nullptr)
        has_changed |= rows_.sums.emplace(wish.product, wish.terms).second;
    }
    return has_changed;
  }

  // The row of an operand may be what is summed up.
  static bool is_repeated(const Wish& wish, std::size_t which) {
    for (std::size_t i = 0; i < which; ++i)
      if (wish.all[i].value == wish.all[which].value && wish.all[i].dim == wish.all[which].dim)
        return true;
    return false;
  }

  bool is_granted(const Longer& longer) const {
    const Shape* shape = rows_.shape_of(longer.value);
    return shape != nullptr && (*shape)[longer.dim] >= longer.size;
  }

  bool grant(const Longer& longer) {
    if (is_granted(longer)) return false;
    Shape& shape =
        rows_.shapes.try_emplace(longer.value, program_.type_of(longer.value).shape).first->second;
    shape[longer.dim] = longer.size;
    if (const auto source = source_of(longer)) grant(*source);
    return true;
  }

  const Op* maker_of(ValueId value) const {
    const OpId maker = program_.value(value).op;
    return maker == kNone ? nullptr : &program_.op(maker);
  }

  // A product writes longer rows where an operand has more of what they are made of.
  std::optional<Longer> source_of(const Longer& longer) const {
    const Op* maker = maker_of(longer.value);
    if (maker == nullptr || longer.dim + 1 != program_.type_of(longer.value).rank() ||
        !is_product_call(program_, *maker, calls_))
      return {};
    const auto source = column_source(program_, *maker);
    if (!source) return {};
    return Longer{source->place.value, source->place.dim, longer.size};
  }

  double seconds_to_copy(ValueId value) const {
    return machine_.launch_seconds +
           2 * static_cast<double>(program_.type_of(value).bytes()) / machine_.copy_rate;
  }

  // By a kernel, which may as well write it elsewhere; reshapes are nobody's work.
  bool is_computed(ValueId value) const {
    const Op* maker = maker_of(value);
    while (maker != nullptr && maker->def->rearranges == Rearrange::reshape)
      maker = maker_of(program_.operands(*maker)[0]);
    return maker != nullptr && maker->def->rearranges == Rearrange::none &&
           is_stitchable(program_, *maker, &calls_);
  }

  // What a kernel computes takes nothing more, all else a copy.
  double seconds_for(const Longer& longer) const {
    if (is_granted(longer)) return 0;
    const double seconds =
        wanted_together_.contains(longer.value) ? seconds_to_copy(longer.value) : 0;
    if (is_computed(longer.value)) return seconds;
    const auto source = source_of(longer);
    return seconds + (source ? seconds_for(*source) : seconds_to_copy(longer.value));
  }

  const Program& program_;
  const DeviceCalls& calls_;
  const MachineFigures machine_;
  std::vector<Wish> wishes_;
  std::unordered_set<ValueId> wanted_together_;
  LongerRows rows_;
};

}  // namespace

bool is_product_call(const Program& program, const Op& op, const DeviceCalls& calls) {
  return op.def->call == DeviceCall::product && !is_stitchable(program, op, &calls) &&
         calls.takes_views(program, op);
}

PlaceToPad place_to_pad(const Program& program, ValueId value, std::int64_t dim) {
  PlaceToPad place{value, static_cast<std::size_t>(dim), {}};
  for (;;) {
    const OpId maker = program.value(place.value).op;
    if (maker == kNone || program.op(maker).def->rearranges != Rearrange::transpose) return place;
    const Op& op = program.op(maker);
    place.dim = static_cast<std::size_t>(integers_or(program.attr(op, "permutation"))[place.dim]);
    place.value = program.operands(op)[0];
    place.transposes.push_back(maker);
  }
}

std::optional<ColumnSource> column_source(const Program& program, const Op& product) {
  const ProductDims dims = product_dims(program, product);
  const auto operands = program.operands(product);
  if (!dims.rhs_own.empty())
    return ColumnSource{1, place_to_pad(program, operands[1], dims.rhs_own.back())};
  if (!dims.lhs_own.empty())
    return ColumnSource{0, place_to_pad(program, operands[0], dims.lhs_own.back())};
  return {};
}

LongerRows choose_longer_rows(const Program& program, const DeviceCalls& calls,
                              const MachineFigures& machine) {
  return Chooser(program, calls, machine).take();
}

}  // namespace heddle
