// Rows of matrices that are no multiple of what products want lie further apart in memory: what
// makes them writes a few zeros behind each, and whoever reads them leaves these out, but for
// products that sum along the rows of both operands.
#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/rewrite.h"
#include "stitch/longer_rows.h"
#include "stitch/product_plan.h"

namespace heddle {

namespace {

class PadRows {
 public:
  PadRows(const Program& program, const DeviceCalls& calls, const LongerRows& rows)
      : program_(program), calls_(calls), rows_(rows) {
    for (const Function& f : program.functions)
      if (f.body != kNone) find_arguments(f.body);
  }

  Expected<bool> operator()(Rewriter& r, const Op& op) {
    if (const auto it = first_in_.find(&op); it != first_in_.end())
      for (ValueId v : program_.region(it->second).args) pad_argument(r, v);
    if (is_product_call(program_, op, calls_) && multiply_longer(r, op)) return true;
    HEDDLE_TRY_VOID(r.copy_op(op));
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId value = program_.result(op, i);
      if (rows_.shape_of(value) != nullptr) read_from_longer(r, value, r.value(value));
    }
    return true;
  }

 private:
  void find_arguments(RegionId region) {
    const Region& r = program_.region(region);
    if (!r.ops.empty()) first_in_[&program_.op(r.ops[0])] = region;
    for (OpId id : r.ops)
      for (RegionId inner : program_.regions(program_.op(id))) find_arguments(inner);
  }

  // With zeros behind what it has.
  static Var padded(Builder& b, Var x, const Shape& shape) {
    Type type = x.type();
    if (type.shape == shape) return x;
    const Attr::Integers none(type.rank(), 0);
    Attr::Integers high;
    for (std::size_t d = 0; d < shape.size(); ++d) high.push_back(shape[d] - type.shape[d]);
    type.shape = shape;
    const Var zero = b.constant(Array(Type::tensor(type.dtype, {})));
    return b.op("pad", {x, zero}, type,
                {{"edge_padding_high", Attr{high}},
                 {"edge_padding_low", Attr{none}},
                 {"interior_padding", Attr{none}}});
  }

  static Var cut(Builder& b, Var x, const Shape& shape) {
    if (x.type().shape == shape) return x;
    return b.slice(x, std::vector<std::int64_t>(shape.size(), 0), shape);
  }

  // From here on the value is read where it lies among more elements; some may be there already.
  void read_from_longer(Rewriter& r, ValueId value, Var now) {
    const Var longer = padded(r.to, now, *rows_.shape_of(value));
    longer_.emplace(value, longer);
    r.define(value, cut(r.to, longer, program_.type_of(value).shape));
  }

  // An argument lies in memory by itself: only where its rows are wanted apart is it read
  // elsewhere.
  void pad_argument(Rewriter& r, ValueId value) {
    const Shape* shape = rows_.shape_of(value);
    if (shape == nullptr) return;
    const Var own = r.value(value);
    read_from_longer(r, value, own);
    if (shape->back() == program_.type_of(value).shape.back()) r.define(value, own);
  }

  // An operand that has so many elements in these dimensions of what transposes turn to it.
  Var operand_with(Rewriter& r, const PlaceToPad& place, const Shape& shape) {
    const auto known = longer_.find(place.value);
    Var x = known != longer_.end() ? known->second : r.value(place.value);
    Shape fits = x.type().shape;
    for (std::size_t d = 0; d < fits.size(); ++d) fits[d] = std::min(fits[d], shape[d]);
    x = padded(r.to, cut(r.to, x, fits), shape);
    for (std::size_t i = place.transposes.size(); i-- > 0;)
      x = r.to.transpose(
          x, integers_or(program_.attr(program_.op(place.transposes[i]), "permutation")));
    return x;
  }

  PlaceToPad summed_at(const Op& op, std::size_t operand) const {
    const ProductDims dims = product_dims(program_, op);
    return place_to_pad(program_, program_.operands(op)[operand],
                        (operand == 0 ? dims.lhs_sum : dims.rhs_sum)[0]);
  }

  // More terms from both operands, and longer rows of the result from the one that has its columns.
  bool multiply_longer(Rewriter& r, const Op& op) {
    const Shape* shape = rows_.shape_of(op.results);
    Type type = program_.type_of(op.results);
    const auto sum = rows_.sums.find(&op);
    const auto source = shape != nullptr && shape->back() != type.shape.back()
                            ? column_source(program_, op)
                            : std::nullopt;
    if (sum == rows_.sums.end() && !source) return false;
    Vars operands = r.operands(op);
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<std::pair<PlaceToPad, std::int64_t>> places;
      if (sum != rows_.sums.end()) places.emplace_back(summed_at(op, i), sum->second);
      if (source && source->operand == i) places.emplace_back(source->place, shape->back());
      if (places.empty()) continue;
      Shape wanted = program_.type_of(places[0].first.value).shape;
      for (const auto& [place, size] : places) wanted[place.dim] = size;
      operands[i] = operand_with(r, places[0].first, wanted);
    }
    if (source) type.shape.back() = shape->back();
    const Var product = r.to.op(op.def->name, operands, type, copied_attrs(program_, op));
    if (shape == nullptr)
      r.define(op.results, product);
    else
      read_from_longer(r, op.results, product);
    return true;
  }

  const Program& program_;
  const DeviceCalls& calls_;
  const LongerRows& rows_;
  std::unordered_map<const Op*, RegionId> first_in_;
  std::unordered_map<ValueId, Var> longer_;
};

}  // namespace

Expected<Program> with_even_rows(const Program& program, const DeviceCalls& calls,
                                 const MachineFigures& machine) {
  const LongerRows rows = choose_longer_rows(program, calls, machine);
  if (rows.shapes.empty()) return program;
  PadRows pads(program, calls, rows);
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) { return pads(r, op); });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.unverified();
}

}  // namespace heddle
