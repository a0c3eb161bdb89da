// Rows of matrices that are no multiple of what products want lie further apart in memory: what
// makes them writes a few zeros behind each, and whoever reads them leaves these out.
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/rewrite.h"
#include "stitch/fold_moves.h"
#include "stitch/product_plan.h"

namespace heddle {

namespace {

bool is_product_call(const Program& program, const Op& op, const DeviceCalls& calls) {
  return op.def->call == DeviceCall::product && !is_stitchable(program, op, &calls) &&
         calls.takes_views(program, op);
}

// A dimension of a value, or of what transposes have turned to it: padding goes in front of them,
// so that products still read through them.
struct PlaceToPad {
  ValueId value = kNone;
  std::size_t dim = 0;
  std::vector<OpId> transposes;  // the last one first
};

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

// Where a product's result gets its last dimension from.
struct ColumnSource {
  std::size_t operand = 0;
  PlaceToPad place;
};

std::optional<ColumnSource> column_source(const Program& program, const Op& product) {
  const ProductDims dims = product_dims(program, product);
  const auto operands = program.operands(product);
  if (!dims.rhs_own.empty())
    return ColumnSource{1, place_to_pad(program, operands[1], dims.rhs_own.back())};
  if (!dims.lhs_own.empty())
    return ColumnSource{0, place_to_pad(program, operands[0], dims.lhs_own.back())};
  return {};
}

// ---- which values

class UnevenRows {
 public:
  UnevenRows(const Program& program, const DeviceCalls& calls, const MachineFigures& machine)
      : program_(program), calls_(calls), machine_(machine) {
    for (const Function& f : program.functions)
      if (f.body != kNone) look_at(f.body);
    while (choose()) {
    }
  }

  bool is_empty() const { return apart_.empty(); }
  // The elements from row to row that a value gets; 0 where it lies as it is.
  std::int64_t apart(ValueId value) const {
    const auto it = apart_.find(value);
    return it == apart_.end() ? 0 : it->second;
  }

 private:
  // A product that would take so much less time if these values had even rows.
  struct Wish {
    double seconds = 0;
    std::int64_t multiple = 1;
    std::vector<ValueId> values;
  };

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
    Wish wish{even.seconds, even.multiple, {}};
    bool is_possible = views.result.value == op.results || plan->ldc % even.multiple == 0;
    std::int64_t common = even.multiple;
    const auto add = [&](ValueId value, std::int64_t apart) {
      if (apart % even.multiple == 0) return;
      const Type& type = program_.type_of(value);
      // Rows of the value itself, and not several of its dimensions in one.
      is_possible = is_possible && type.rank() > 1 && type.shape.back() == apart;
      common = std::gcd(common, apart);
      wish.values.push_back(value);
    };
    add(views.lhs.value, plan->swapped ? plan->ldb : plan->lda);
    add(views.rhs.value, plan->swapped ? plan->lda : plan->ldb);
    add(views.result.value, plan->ldc);
    wish.seconds /= static_cast<double>(common);  // rows of twice an odd number are not as slow
    if (is_possible && !wish.values.empty()) wishes_.push_back(std::move(wish));
  }

  // Grants what is worth its price; what one product has paid for is free for the next.
  bool choose() {
    bool has_changed = false;
    for (const Wish& wish : wishes_) {
      double price = 0;
      for (ValueId v : wish.values)
        if (!apart_.contains(v)) price += seconds_to_pad(v);
      for (ValueId v : wish.values) {
        if (price >= wish.seconds || apart_.contains(v)) continue;
        const std::int64_t size = program_.type_of(v).shape.back();
        apart_[v] = (size + wish.multiple - 1) / wish.multiple * wish.multiple;
        has_changed = true;
      }
    }
    return has_changed;
  }

  double seconds_to_copy(ValueId value) const {
    return machine_.launch_seconds +
           2 * static_cast<double>(program_.type_of(value).bytes()) / machine_.copy_rate;
  }

  // A kernel that makes the value writes it in whichever place; all else takes a copy.
  double seconds_to_pad(ValueId value) const {
    double seconds = wanted_together_.contains(value) ? seconds_to_copy(value) : 0;
    const OpId maker = program_.value(value).op;
    if (maker == kNone) return seconds + seconds_to_copy(value);
    const Op& op = program_.op(maker);
    if (is_stitchable(program_, op, &calls_)) return seconds;
    const auto source =
        is_product_call(program_, op, calls_) ? column_source(program_, op) : std::nullopt;
    return seconds + seconds_to_copy(source ? source->place.value : value);
  }

  const Program& program_;
  const DeviceCalls& calls_;
  const MachineFigures machine_;
  std::vector<Wish> wishes_;
  std::unordered_set<ValueId> wanted_together_;
  std::unordered_map<ValueId, std::int64_t> apart_;
};

// ---- the program with them

class PadRows {
 public:
  PadRows(const Program& program, const DeviceCalls& calls, const UnevenRows& rows)
      : program_(program), calls_(calls), rows_(rows) {
    for (const Function& f : program.functions)
      if (f.body != kNone) find_arguments(f.body);
  }

  Expected<bool> operator()(Rewriter& r, const Op& op) {
    if (const auto it = first_in_.find(&op); it != first_in_.end())
      for (ValueId v : program_.region(it->second).args) pad(r, v);
    if (is_product_call(program_, op, calls_) && rows_.apart(op.results) != 0 &&
        multiply_padded(r, op))
      return true;
    HEDDLE_TRY_VOID(r.copy_op(op));
    for (std::size_t i = 0; i < op.result_count; ++i) pad(r, program_.result(op, i));
    return true;
  }

 private:
  void find_arguments(RegionId region) {
    const Region& r = program_.region(region);
    if (!r.ops.empty()) first_in_[&program_.op(r.ops[0])] = region;
    for (OpId id : r.ops)
      for (RegionId inner : program_.regions(program_.op(id))) find_arguments(inner);
  }

  static Var with_size(Builder& b, Var x, std::size_t dim, std::int64_t size) {
    Type type = x.type();
    Attr::Integers none(type.rank(), 0), high = none;
    high[dim] = size - type.shape[dim];
    type.shape[dim] = size;
    const Var zero = b.constant(Array(Type::tensor(type.dtype, {})));
    return b.op("pad", {x, zero}, type,
                {{"edge_padding_high", Attr{high}},
                 {"edge_padding_low", Attr{none}},
                 {"interior_padding", Attr{none}}});
  }

  // From here on the value is read where it lies in `whole`, which has longer rows.
  void read_from(Rewriter& r, ValueId value, Var whole) {
    whole_.emplace(value, whole);
    const Shape& shape = program_.type_of(value).shape;
    r.define(value, r.to.slice(whole, std::vector<std::int64_t>(shape.size(), 0), shape));
  }

  void pad(Rewriter& r, ValueId value) {
    const std::int64_t apart = rows_.apart(value);
    if (apart == 0) return;
    const std::size_t last = program_.type_of(value).rank() - 1;
    read_from(r, value, with_size(r.to, r.value(value), last, apart));
  }

  // The result gets longer rows from an operand that has more of them.
  bool multiply_padded(Rewriter& r, const Op& op) {
    const auto source = column_source(program_, op);
    if (!source) return false;
    const PlaceToPad& place = source->place;
    Type type = program_.type_of(op.results);
    type.shape.back() = rows_.apart(op.results);
    // It may have been padded there for its own sake.
    const auto known = whole_.find(place.value);
    const bool is_there =
        known != whole_.end() && known->second.type().shape[place.dim] == type.shape.back();
    Var longer = is_there ? known->second
                          : with_size(r.to, r.value(place.value), place.dim, type.shape.back());
    for (std::size_t i = place.transposes.size(); i-- > 0;)
      longer = r.to.transpose(
          longer, integers_or(program_.attr(program_.op(place.transposes[i]), "permutation")));
    Vars operands = r.operands(op);
    operands[source->operand] = longer;
    read_from(r, op.results, r.to.op(op.def->name, operands, type, copied_attrs(program_, op)));
    return true;
  }

  const Program& program_;
  const DeviceCalls& calls_;
  const UnevenRows& rows_;
  std::unordered_map<const Op*, RegionId> first_in_;
  std::unordered_map<ValueId, Var> whole_;
};

}  // namespace

Expected<Program> with_even_rows(const Program& program, const DeviceCalls& calls,
                                 const MachineFigures& machine) {
  const UnevenRows rows(program, calls, machine);
  if (rows.is_empty()) return program;
  PadRows pads(program, calls, rows);
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) { return pads(r, op); });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle
