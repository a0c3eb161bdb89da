// The client ops that are not functions of single elements: broadcasts, top_k, ragged_dot and scan.
#include <algorithm>
#include <limits>

#include "heddle/op_piece.h"
#include "ir/attr_access.h"
#include "ir/eval/chlo.h"
#include "ir/lower/chlo.h"
#include "ir/rules/scan.h"

namespace heddle::chlo {

namespace {

using Dims = Builder::Dims;

const Type& result_type(const Rewriter& r, const Op& op, std::size_t i = 0) {
  return r.from.type_of(r.from.result(op, i));
}

Dims count_from(std::int64_t first, std::size_t n) {
  Dims dims(n);
  for (std::size_t i = 0; i < n; ++i) dims[i] = first + static_cast<std::int64_t>(i);
  return dims;
}

// ---- broadcast_*

Expected<bool> broadcast_binary(Rewriter& r, const Op& op) {
  const Type& whole = result_type(r, op);
  Vars both = r.operands(op);
  for (std::size_t i = 0; i < both.size(); ++i) {
    HEDDLE_TRY(auto dims, broadcast_dims(r.from, op, i));
    if (both[i].type() != whole) both[i] = r.to.broadcast(both[i], whole.shape, std::move(dims));
  }
  constexpr std::string_view prefix = "broadcast_";
  r.define_results(op, {r.to.op(op.def->short_name().substr(prefix.size()), both)});
  return true;
}

// ---- top_k

// Floats by their total order: NaN above everything, negative NaN below, and -0 below +0.
Var ranks_above(Builder& b, Var x, Var y) {
  return b.compare("GT", x, y, is_float(x.type().dtype) ? "TOTALORDER" : "");
}

Expected<bool> top_k(Rewriter& r, const Op& op) {
  Builder& b = r.to;
  const Var x = r.operands(op)[0];
  const Type values = x.type();
  const Type indices = Type::tensor(result_type(r, op, 1).dtype, values.shape);
  const auto last = static_cast<std::int64_t>(values.rank()) - 1;
  const Type value = Type::tensor(values.dtype, {}), index = Type::tensor(indices.dtype, {});
  const RegionId order = b.region({value, value, index, index}, [&](const Vars& in) -> Vars {
    return {ranks_above(b, in[0], in[1])};
  });
  // Of equal elements the first comes first.
  Vars sorted = b.ops("sort", {x, b.iota(indices, last)}, {values, indices},
                      {{"dimension", {Attr::Integer{last}}}, {"is_stable", {true}}}, {order});
  for (Var& v : sorted) v = b.slice(v, Dims(values.rank(), 0), result_type(r, op).shape);
  r.define_results(op, sorted);
  return true;
}

// ---- ragged_dot

// Whether position p along the ragged dimension is in group g: i1 of [groups, length].
Var group_mask(Builder& b, Var group_sizes, std::int64_t length) {
  const std::int64_t groups = group_sizes.type().shape[0];
  const Var sizes = b.convert(group_sizes, DType::i64);
  const Var counted = b.op("maximum", {sizes, b.full_like(sizes, 0)});
  const Type square = Type::tensor(DType::i64, {groups, groups});
  const Var before = b.compare("LE", b.iota(square, 1), b.iota(square, 0));
  const Var spread = b.broadcast(counted, square.shape, {1});
  const Var ends = b.reduce(b.select(before, spread, b.full_like(spread, 0)), {1}, "add");
  const Type table = Type::tensor(DType::i64, {groups, length});
  const Var position = b.iota(table, 1);
  return b.op("and", {b.compare("GE", position, b.broadcast(ends - counted, table.shape, {0})),
                      b.compare("LT", position, b.broadcast(ends, table.shape, {0}))});
}

// x where the mask, laid over the dimensions of x, is true; zero elsewhere.
Var masked(Builder& b, Var x, Var mask, Dims dims) {
  return b.select(b.broadcast(mask, x.type().shape, std::move(dims)), x, b.full_like(x, 0));
}

std::int64_t place_of(const Dims& dims, std::int64_t d) {
  return std::ranges::find(dims, d) - dims.begin();
}
bool holds(const Dims& dims, std::int64_t d) {
  return place_of(dims, d) < static_cast<std::int64_t>(dims.size());
}

// How many dimensions of an operand come before d and are neither in `batch` nor in `sum`.
std::int64_t free_before(std::int64_t d, const Dims& batch, const Dims& sum) {
  std::int64_t n = 0;
  for (std::int64_t e = 0; e < d; ++e) n += holds(batch, e) || holds(sum, e) ? 0 : 1;
  return n;
}

struct RaggedDot {
  Rewriter& r;
  const Op& op;
  RaggedDims dims;
  Var lhs, rhs, mask;
  std::int64_t ragged;

  DotDims pairs() const { return {dims.lhs_batch, dims.rhs_batch, dims.lhs_sum, dims.rhs_sum}; }
  Var product(Var x, Var y, const DotDims& with) const {
    AttrDict more;
    if (const Attr* precision = r.from.attr(op, "precision_config"))
      more.push_back({"precision_config", *precision});
    return r.to.dot(x, y, with, result_type(r, op).dtype, std::move(more));
  }
  std::int64_t lhs_free() const {
    return static_cast<std::int64_t>(lhs.type().rank() - dims.lhs_batch.size() -
                                     dims.lhs_sum.size());
  }

  // Rows belong to groups: all products, of which each row keeps that with its own group. Masking
  // the result, not the operands, keeps a group's infinities out of other rows.
  Var by_rows() const {
    const Var all = product(lhs, rhs, pairs());
    const auto batch = static_cast<std::int64_t>(dims.lhs_batch.size());
    const std::int64_t row = batch + free_before(ragged, dims.lhs_batch, dims.lhs_sum);
    const std::int64_t group =
        batch + lhs_free() + free_before(dims.rhs_group[0], dims.rhs_batch, dims.rhs_sum);
    return r.to.reduce(masked(r.to, all, mask, {group, row}), {group}, "add");
  }

  // Terms of the sum belong to groups: one product per group, with the others' terms zero.
  Var by_terms() const {
    auto per_group = [&](Var x, std::int64_t d) {
      Shape shape = x.type().shape;
      shape.insert(shape.begin(), mask.type().shape[0]);
      const Var copies = r.to.broadcast(x, shape, count_from(1, x.type().rank()));
      return masked(r.to, copies, mask, {0, d + 1});
    };
    auto after_group = [](Dims d) {
      for (std::int64_t& v : d) ++v;
      return d;
    };
    const std::int64_t in_rhs =
        dims.rhs_sum[static_cast<std::size_t>(place_of(dims.lhs_sum, ragged))];
    DotDims with{after_group(dims.lhs_batch), after_group(dims.rhs_batch),
                 after_group(dims.lhs_sum), after_group(dims.rhs_sum)};
    with.lhs_batch.insert(with.lhs_batch.begin(), 0);
    with.rhs_batch.insert(with.rhs_batch.begin(), 0);
    return product(per_group(lhs, ragged), per_group(rhs, in_rhs), with);
  }

  // Batches belong to groups: only what is past all of them is left out.
  Var by_batches() const {
    const Var inside = r.to.reduce(mask, {0}, "or");
    return masked(r.to, product(lhs, rhs, pairs()), inside, {place_of(dims.lhs_batch, ragged)});
  }
};

Expected<bool> ragged_dot(Rewriter& r, const Op& op) {
  const Vars in = r.operands(op);
  if (in[2].type().rank() != 1) return false;
  HEDDLE_TRY(RaggedDims dims, ragged_dims(r.from, op));
  const std::int64_t ragged = dims.lhs_ragged[0];
  const std::int64_t length = in[0].type().shape[static_cast<std::size_t>(ragged)];
  const RaggedDot dot{r, op, dims, in[0], in[1], group_mask(r.to, in[2], length), ragged};
  Var result;
  if (holds(dims.lhs_sum, ragged))
    result = dot.by_terms();
  else if (holds(dims.lhs_batch, ragged))
    result = dot.by_batches();
  else
    result = dot.by_rows();
  r.define_results(op, {result});
  return true;
}

// ---- scan

// A loop over positions: inputs are read from around it, its state is a counter, the outputs so far
// and the carries.
struct Scan {
  Rewriter& r;
  const Op& op;
  ScanParts parts;

  // Start indices of the slice at a position.
  Vars starts(Var position, std::size_t rank) const {
    Vars at(rank, r.to.full_like(position, 0));
    at[static_cast<std::size_t>(parts.dimension)] = position;
    return at;
  }
  Shape slice_shape(Shape shape) const {
    shape[static_cast<std::size_t>(parts.dimension)] = 1;
    return shape;
  }

  Var read(Var input, Var position, const Type& slice) const {
    const Shape thin = slice_shape(input.type().shape);
    Vars operands{input};
    std::ranges::copy(starts(position, thin.size()), std::back_inserter(operands));
    const Var part = r.to.op("dynamic_slice", operands, Type::tensor(slice.dtype, thin),
                             {{"slice_sizes", {Attr::Integers(thin)}}});
    return r.to.reshape(part, slice.shape);
  }
  Var write(Var output, Var slice, Var position) const {
    const Type type = output.type();
    Vars operands{output, r.to.reshape(slice, slice_shape(type.shape))};
    std::ranges::copy(starts(position, type.rank()), std::back_inserter(operands));
    return r.to.op("dynamic_update_slice", operands, type);
  }

  Expected<Vars> step(const Vars& in, const Vars& state, std::int64_t length) const {
    const RegionId region = r.from.regions(op)[0];
    const Region& body = r.from.region(region);
    const Var position = parts.reverse ? static_cast<double>(length - 1) - state[0] : state[0];
    for (std::size_t i = 0; i < parts.inputs; ++i)
      r.define(body.args[i], read(in[i], position, r.from.type_of(body.args[i])));
    for (std::size_t i = 0; i < parts.carries; ++i)
      r.define(body.args[parts.inputs + i], state[1 + parts.outputs + i]);
    HEDDLE_TRY_VOID(r.copy_ops(region, true));
    const Vars results = r.operands(r.from.op(body.ops.back()));
    Vars next{state[0] + 1};
    for (std::size_t i = 0; i < results.size(); ++i)
      next.push_back(i < parts.outputs ? write(state[1 + i], results[i], position) : results[i]);
    return next;
  }
};

// The op by which a scan puts its one input and its one carry together, where that is all it does
// and their grouping does not matter.
const OpDef* running_op(const Program& from, const Op& op, const ScanParts& parts) {
  const Attr* associative = from.attr(op, "is_associative");
  const bool* is_free = associative == nullptr ? nullptr : associative->get<bool>();
  if (is_free == nullptr || !*is_free) return nullptr;
  if (parts.inputs != 1 || parts.carries != 1 || parts.outputs != 1) return nullptr;
  const Region& body = from.region(from.regions(op)[0]);
  if (body.ops.size() != 2) return nullptr;
  const Op& step = from.op(body.ops[0]);
  const Op& end = from.op(body.ops[1]);
  if (step.operand_count != 2 || step.result_count != 1 || !step.def->combines) return nullptr;
  for (ValueId v : from.operands(end))
    if (v != from.result(step, 0)) return nullptr;
  const auto of = from.operands(step);
  const bool has_both = (of[0] == body.args[0] && of[1] == body.args[1]) ||
                        (of[0] == body.args[1] && of[1] == body.args[0]);
  return has_both ? step.def : nullptr;
}

// A window over all elements so far, which devices know how to run along.
void running_sum(Rewriter& r, const Op& op, const ScanParts& parts, const OpDef& step) {
  const Vars in = r.operands(op);
  const Type type = in[0].type();
  const auto dim = static_cast<std::size_t>(parts.dimension);
  const std::int64_t length = type.shape[dim];
  Dims window(type.rank(), 1), strides(type.rank(), 1), padding(2 * type.rank(), 0);
  window[dim] = length;
  padding[2 * dim + (parts.reverse ? 1 : 0)] = length - 1;
  const Type scalar = Type::tensor(type.dtype, {});
  const RegionId body = r.to.region(
      {scalar, scalar}, [&](const Vars& both) -> Vars { return {r.to.op(step, both)}; });
  Array pairs(Type::tensor(DType::i64, {static_cast<std::int64_t>(type.rank()), 2}));
  std::ranges::copy(padding, pairs.as_mutable<std::int64_t>().begin());
  Var sums = r.to.ops(
      "reduce_window", {in[0], r.to.constant(neutral_array(*step.combines, scalar))}, {type},
      {{"window_dimensions", {window}}, {"window_strides", {strides}}, {"padding", {pairs}}},
      {body})[0];
  if (!is_neutral(r.from, r.from.operands(op)[1], *step.combines)) {
    Dims others;
    for (std::size_t i = 0; i < type.rank(); ++i)
      if (i != dim) others.push_back(static_cast<std::int64_t>(i));
    sums = r.to.op(step, {r.to.broadcast(in[1], type.shape, others), sums});
  }
  Dims from(type.rank(), 0), to = type.shape;
  from[dim] = parts.reverse ? 0 : length - 1;
  to[dim] = from[dim] + 1;
  const Var last = r.to.slice(sums, from, to);
  r.define_results(op, {sums, r.to.reshape(last, in[1].type().shape)});
}

Expected<bool> scan(Rewriter& r, const Op& op) {
  HEDDLE_TRY(ScanParts parts, scan_parts(r.from, op));
  const Vars in = r.operands(op);
  const OpDef* const step = running_op(r.from, op, parts);
  if (step != nullptr && in[0].type().elements() > 0) {
    running_sum(r, op, parts, *step);
    return true;
  }
  const std::int64_t length = in[0].type().shape[static_cast<std::size_t>(parts.dimension)];
  const Type counter = Type::tensor(DType::i64, {});
  Vars start{r.to.full(counter, 0)};
  for (std::size_t i = 0; i < parts.outputs; ++i)
    start.push_back(r.to.full(result_type(r, op, i), 0));
  start.insert(start.end(), in.begin() + static_cast<std::ptrdiff_t>(parts.inputs), in.end());
  const Scan loop{r, op, parts};
  Verdict copied = yes();
  const Vars end = r.to.while_loop(
      start,
      [&](const Vars& state) {
        return r.to.compare("LT", state[0], r.to.full(counter, static_cast<double>(length)));
      },
      [&](const Vars& state) {
        auto next = loop.step(in, state, length);
        if (next) return *next;
        copied = next.why();
        return state;
      });
  HEDDLE_TRY_VOID(copied);
  r.define_results(op, {end.begin() + 1, end.end()});
  return true;
}

}  // namespace

Lower structured_lowering(std::string_view op) {
  if (op.starts_with("broadcast_")) return broadcast_binary;
  if (op == "top_k") return top_k;
  if (op == "ragged_dot") return ragged_dot;
  if (op == "scan") return scan;
  return nullptr;
}

}  // namespace heddle::chlo
