// The ops of the client dialect that are not elementwise: broadcasts, top_k, ragged_dot and scan.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "ir/attr_access.h"
#include "ir/eval/chlo.h"
#include "ir/eval/elementwise.h"
#include "ir/eval/index_space.h"
#include "ir/eval/reduce_common.h"
#include "ir/eval/total_order.h"

namespace heddle {

using reduction::Axes;
using reduction::Integers;

Evaluated broadcast_operand(EvalContext& ctx, std::size_t operand) {
  const Array& x = ctx.operands[operand];
  const Type& whole = ctx.result_type();
  if (x.type() == whole) return std::vector{x};
  HEDDLE_TRY(auto dims, chlo::broadcast_dims(ctx.program, ctx.op, operand));
  const Index strides = row_major_strides(x.shape());
  ElementPlaces places{0, Index(whole.rank(), 0)};
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (x.shape()[d] != 1) places.steps[static_cast<std::size_t>(dims[d])] = strides[d];
  return std::vector{pick_elements(x, whole, places)};
}

// ---- top_k

namespace {

// A number that orders as the element does; floats by their total order: NaN above everything,
// negative NaN below, and -0 below +0.
template <typename T>
std::int64_t rank_key(T x) {
  if constexpr (FloatScalar<T>) {
    return total_order_key(x);
  } else if constexpr (BoolScalar<T>) {
    return bool(x) ? 1 : 0;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return static_cast<std::int64_t>(x ^ (std::uint64_t{1} << 63));
  } else {
    return static_cast<std::int64_t>(x);
  }
}

// Of all elements; none for types that have no order.
std::optional<Integers> rank_keys(const Array& x) {
  return dispatch(x.dtype(), [&](auto tag) -> std::optional<Integers> {
    using T = typename decltype(tag)::type;
    if constexpr (ComplexScalar<T>) {
      return std::nullopt;
    } else {
      const auto from = x.as<T>();
      Integers keys(from.size());
      std::transform(from.begin(), from.end(), keys.begin(), rank_key<T>);
      return keys;
    }
  });
}

void write_integers(Array& to, const Integers& from) {
  dispatch(to.dtype(), [&](auto tag) {
    using I = typename decltype(tag)::type;
    if constexpr (IntScalar<I>)
      std::transform(from.begin(), from.end(), to.as_mutable<I>().begin(),
                     [](std::int64_t x) { return static_cast<I>(x); });
  });
}

}  // namespace

// Sorts numbers, whatever the type is: one sort instead of one for each type.
Evaluated evaluate_top_k(EvalContext& ctx) {
  const Array& x = ctx.operands[0];
  const auto keys = rank_keys(x);
  if (!keys) return undefined_for(ctx, x.dtype());
  Array values(ctx.result_type(0)), indices(ctx.result_type(1));
  const std::int64_t width = x.shape().back(), kept = values.shape().back();
  const auto size = static_cast<std::size_t>(byte_size(x.dtype()));
  const auto from = x.bytes();
  const auto to = values.mutable_bytes();
  Integers places, order(static_cast<std::size_t>(width));
  for (std::int64_t row = 0; kept > 0 && row * width < x.elements(); ++row) {
    const std::int64_t* key = keys->data() + row * width;
    std::iota(order.begin(), order.end(), 0);
    // Of equal elements the first comes first.
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return key[a] != key[b] ? key[a] > key[b] : a < b;
    });
    places.insert(places.end(), order.begin(), order.begin() + kept);
    for (std::int64_t i = 0; i < kept; ++i)
      std::memcpy(
          to.data() + static_cast<std::size_t>(row * kept + i) * size,
          from.data() +
              static_cast<std::size_t>(row * width + order[static_cast<std::size_t>(i)]) * size,
          size);
  }
  write_integers(indices, places);
  return std::vector{std::move(values), std::move(indices)};
}

// ---- ragged_dot

namespace {

// Which group a position along the ragged dimension is in, or -1 past all of them.
Integers group_of_positions(const Array& sizes, std::int64_t length) {
  Integers group(static_cast<std::size_t>(length), -1);
  std::int64_t at = 0;
  for (std::int64_t g = 0; g < sizes.elements(); ++g)
    for (std::int64_t n = integer_at(sizes, g); n > 0 && at < length; --n)
      group[static_cast<std::size_t>(at++)] = g;
  return group;
}

// An output or contracted dimension, with its step in each operand.
struct RaggedAxes {
  Axes lhs, rhs;
  std::size_t ragged = SIZE_MAX;  // which of them is the ragged one
  void add(std::int64_t size, std::int64_t lhs_step, std::int64_t rhs_step) {
    lhs.add(size, lhs_step);
    rhs.add(size, rhs_step);
  }
};

struct RaggedProduct {
  RaggedAxes out, sum;
  std::int64_t group_step = 0;    // from group to group in the right operand
  bool group_per_result = false;  // the result's first dimension is the group
};

RaggedProduct ragged_product(const chlo::RaggedDims& dims, const Shape& lhs, const Shape& rhs,
                             std::int64_t groups) {
  const Integers left = reduction::strides_of(lhs), right = reduction::strides_of(rhs);
  const auto ragged = static_cast<std::size_t>(dims.lhs_ragged[0]);
  RaggedProduct p;
  auto add = [&](RaggedAxes& axes, std::size_t l, std::int64_t r_step) {
    if (l == ragged) axes.ragged = axes.lhs.sizes.size();
    axes.add(lhs[l], left[l], r_step);
  };
  p.group_per_result = std::ranges::find(dims.lhs_sum, dims.lhs_ragged[0]) != dims.lhs_sum.end();
  if (p.group_per_result) p.out.add(groups, 0, 0);
  for (std::size_t i = 0; i < dims.lhs_batch.size(); ++i)
    add(p.out, static_cast<std::size_t>(dims.lhs_batch[i]),
        right[static_cast<std::size_t>(dims.rhs_batch[i])]);
  for (std::int64_t d : reduction::other_dimensions(lhs.size(), dims.lhs_batch, dims.lhs_sum))
    add(p.out, static_cast<std::size_t>(d), 0);
  Integers taken = dims.rhs_sum;
  taken.insert(taken.end(), dims.rhs_group.begin(), dims.rhs_group.end());
  for (std::int64_t d : reduction::other_dimensions(rhs.size(), dims.rhs_batch, taken))
    p.out.add(rhs[static_cast<std::size_t>(d)], 0, right[static_cast<std::size_t>(d)]);
  for (std::size_t i = 0; i < dims.lhs_sum.size(); ++i)
    add(p.sum, static_cast<std::size_t>(dims.lhs_sum[i]),
        right[static_cast<std::size_t>(dims.rhs_sum[i])]);
  if (!dims.rhs_group.empty()) p.group_step = right[static_cast<std::size_t>(dims.rhs_group[0])];
  return p;
}

// Position `flat` of the axes, along one of them.
std::int64_t along(const Axes& axes, std::int64_t flat, std::size_t axis) {
  for (std::size_t d = axes.sizes.size(); d-- > axis + 1;) flat /= axes.sizes[d];
  return flat % axes.sizes[axis];
}

template <typename Wide>
std::vector<Wide> contract_ragged(const RaggedProduct& p, const Integers& group_of,
                                  const std::vector<Wide>& lhs, const std::vector<Wide>& rhs) {
  std::vector<Wide> result(static_cast<std::size_t>(p.out.lhs.count()));
  const std::int64_t terms = result.empty() ? 0 : p.sum.lhs.count();
  for (std::size_t o = 0; o < result.size(); ++o) {
    const auto at = static_cast<std::int64_t>(o);
    std::int64_t group = -1;
    if (p.out.ragged != SIZE_MAX)
      group = group_of[static_cast<std::size_t>(along(p.out.lhs, at, p.out.ragged))];
    if (p.group_per_result) group = along(p.out.lhs, at, 0);
    if (group < 0) continue;  // past all groups: zero
    const std::int64_t left = p.out.lhs.offset(at);
    const std::int64_t right = p.out.rhs.offset(at) + group * p.group_step;
    for (std::int64_t k = 0; k < terms; ++k) {
      if (p.group_per_result &&
          group_of[static_cast<std::size_t>(along(p.sum.lhs, k, p.sum.ragged))] != group)
        continue;
      result[o] = reduction::add_product(
          result[o], lhs[static_cast<std::size_t>(left + p.sum.lhs.offset(k))],
          rhs[static_cast<std::size_t>(right + p.sum.rhs.offset(k))]);
    }
  }
  return result;
}

}  // namespace

Evaluated evaluate_ragged_dot(EvalContext& ctx) {
  const Array &lhs = ctx.operands[0], &rhs = ctx.operands[1], &sizes = ctx.operands[2];
  if (sizes.shape().size() != 1)
    return reason("[ragged_dot] the group sizes are {}, expected one list that all batches share",
                  sizes.type().str());
  HEDDLE_TRY(auto dims, chlo::ragged_dims(ctx.program, ctx.op));
  const std::int64_t length = lhs.shape()[static_cast<std::size_t>(dims.lhs_ragged[0])];
  const RaggedProduct p = ragged_product(dims, lhs.shape(), rhs.shape(), sizes.elements());
  if (p.out.lhs.steps() * p.sum.lhs.steps() > reduction::kMostSteps)
    return reason("[ragged_dot] is too large for the reference interpreter");
  const Integers group_of = group_of_positions(sizes, length);
  return reduction::dispatch_sum(
      {lhs.dtype(), rhs.dtype(), ctx.result_type().dtype}, [&](auto tag) {
        using W = typename decltype(tag)::type;
        auto sums =
            contract_ragged<W>(p, group_of, reduction::widened<W>(lhs), reduction::widened<W>(rhs));
        return std::vector<Array>{reduction::narrowed<W>(ctx.result_type(), sums)};
      });
}

// ---- scan

namespace {

// One position along the scanned dimension.
ElementPlaces slice_at(const Shape& shape, std::int64_t dimension, std::int64_t position) {
  ElementPlaces places{0, row_major_strides(shape)};
  places.base = position * places.steps[static_cast<std::size_t>(dimension)];
  places.steps.erase(places.steps.begin() + dimension);
  return places;
}

}  // namespace

Evaluated evaluate_scan(EvalContext& ctx) {
  HEDDLE_TRY(auto parts, chlo::scan_parts(ctx.program, ctx.op));
  const Region& body = ctx.program.region(ctx.region(0));
  const std::int64_t length = ctx.operands[0].shape()[static_cast<std::size_t>(parts.dimension)];
  std::vector<Array> outputs, carries;
  for (std::size_t i = 0; i < parts.outputs; ++i) outputs.emplace_back(ctx.result_type(i));
  carries.assign(ctx.operands.begin() + static_cast<std::ptrdiff_t>(parts.inputs),
                 ctx.operands.end());
  for (std::int64_t step = 0; step < length; ++step) {
    const std::int64_t position = parts.reverse ? length - 1 - step : step;
    std::vector<Array> arguments;
    for (std::size_t i = 0; i < parts.inputs; ++i)
      arguments.push_back(
          pick_elements(ctx.operands[i], ctx.program.type_of(body.args[i]),
                        slice_at(ctx.operands[i].shape(), parts.dimension, position)));
    std::ranges::move(carries, std::back_inserter(arguments));
    HEDDLE_TRY(auto results, ctx.run_region(ctx.region(0), std::move(arguments)));
    for (std::size_t i = 0; i < parts.outputs; ++i)
      put_elements(outputs[i], results[i], slice_at(outputs[i].shape(), parts.dimension, position));
    carries.assign(results.begin() + static_cast<std::ptrdiff_t>(parts.outputs), results.end());
  }
  std::ranges::move(carries, std::back_inserter(outputs));
  return outputs;
}

}  // namespace heddle
