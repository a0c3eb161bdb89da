// Appends the op of a piece to a program, with what must be done before and after it.
#include "ir/rules/piece_emit.h"

#include <algorithm>
#include <limits>

#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "ir/clone.h"
#include "ir/eval/scalar.h"

namespace heddle {

ValueId Emitter::op(std::string_view name, std::vector<ValueId> operands, const Type& result,
                    AttrDict attrs, std::vector<RegionId> regions) {
  const TypeId type = out.intern(result);
  const OpId id = out.add_op(at, *find_op(name), operands, {&type, 1}, std::move(attrs), regions);
  return out.result(out.op(id), 0);
}

ValueId Emitter::constant(Array value) {
  const Type type = value.type();
  return op("stablehlo.constant", {}, type, {{"value", Attr{std::move(value)}}});
}

namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 62;

Attr list(std::vector<std::int64_t> values) { return Attr{Attr::Integers(std::move(values))}; }

// One number for every element of the indices, by the component that the element belongs to.
Array per_element(const Shape& shape, std::span<const IndexShift> shifts, std::int64_t other,
                  std::int64_t (*value)(const IndexShift&)) {
  Array array(Type::tensor(DType::i64, shape));
  auto numbers = array.as_mutable<std::int64_t>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = other;
    for (const IndexShift& shift : shifts) {
      std::int64_t component = shift.component;
      if (shift.dim >= 0) {
        std::int64_t inner = 1;
        for (std::size_t d = static_cast<std::size_t>(shift.dim) + 1; d < shape.size(); ++d)
          inner *= shape[d];
        component =
            static_cast<std::int64_t>(i) / inner % shape[static_cast<std::size_t>(shift.dim)];
      }
      if (component == shift.component) numbers[i] = value(shift);
    }
  }
  return array;
}

// Indices of any integer type as i64, within ±2^62 so that shifting them cannot wrap.
ValueId wide_indices(Emitter& emit, ValueId indices) {
  Type type = emit.out.type_of(indices);
  if (type.dtype == DType::ui64) {
    ValueId most = emit.constant(filled_array(type, static_cast<std::uint64_t>(kFar)));
    indices = emit.op("stablehlo.minimum", {indices, most}, type);
  }
  type.dtype = DType::i64;
  if (emit.out.type_of(indices).dtype != DType::i64)
    indices = emit.op("stablehlo.convert", {indices}, type);
  ValueId low = emit.constant(filled_array(type, -kFar));
  ValueId high = emit.constant(filled_array(type, kFar));
  return emit.op("stablehlo.clamp", {low, indices, high}, type);
}

// The start of a factor that is known only when it runs; kNone where the piece says it all.
ValueId begin_of(std::span<const ValueId> begins, int factor) {
  if (factor < 0 || static_cast<std::size_t>(factor) >= begins.size()) return kNone;
  return begins[static_cast<std::size_t>(factor)];
}

ValueId over_shape(Emitter& emit, ValueId scalar, const Type& type) {
  return emit.op("stablehlo.broadcast_in_dim", {scalar}, type,
                 {{"broadcast_dimensions", list({})}});
}

// Adds to the first places of the shifts what is known only when they run.
ValueId with_begins(Emitter& emit, ValueId begin, std::span<const IndexShift> shifts,
                    std::span<const ValueId> begins) {
  const Type type = emit.out.type_of(begin);
  for (const IndexShift& shift : shifts) {
    const ValueId more = begin_of(begins, shift.factor);
    if (more == kNone) continue;
    const ValueId there = emit.constant(
        per_element(type.shape, {&shift, 1}, 0, [](const IndexShift&) { return std::int64_t{1}; }));
    const ValueId amount =
        emit.op("stablehlo.multiply", {there, over_shape(emit, more, type)}, type);
    begin = emit.op("stablehlo.add", {begin, amount}, type);
  }
  return begin;
}

ValueId shifted(Emitter& emit, ValueId indices, std::span<const IndexShift> shifts,
                std::span<const ValueId> begins) {
  indices = wide_indices(emit, indices);
  const Type type = emit.out.type_of(indices);
  const Type truth = Type::tensor(DType::i1, type.shape);
  auto numbers = [&](std::int64_t other, std::int64_t (*value)(const IndexShift&)) {
    return emit.constant(per_element(type.shape, shifts, other, value));
  };
  auto compare = [&](ValueId a, ValueId b, const char* direction) {
    return emit.op("stablehlo.compare", {a, b}, truth,
                   {{"comparison_direction", Attr{Attr::Enum{"comparison_direction", direction}}}});
  };
  ValueId low = numbers(-kFar, [](const IndexShift& s) { return s.clamps ? s.low : -kFar; });
  ValueId high = numbers(kFar, [](const IndexShift& s) { return s.clamps ? s.high : kFar; });
  ValueId clamped = emit.op("stablehlo.clamp", {low, indices, high}, type);
  ValueId begin =
      with_begins(emit, numbers(0, [](const IndexShift& s) { return s.begin; }), shifts, begins);
  ValueId local = emit.op("stablehlo.subtract", {clamped, begin}, type);
  ValueId first = numbers(-2 * kFar, [](const IndexShift& s) { return s.size ? 0 : -2 * kFar; });
  ValueId end = numbers(std::numeric_limits<std::int64_t>::max(), [](const IndexShift& s) {
    return s.size.value_or(std::numeric_limits<std::int64_t>::max());
  });
  ValueId inside =
      emit.op("stablehlo.and", {compare(local, first, "GE"), compare(local, end, "LT")}, truth);
  ValueId elsewhere = numbers(0, [](const IndexShift& s) { return s.elsewhere; });
  return emit.op("stablehlo.select", {inside, local, elsewhere}, type);
}

// Drops the margins of a result.
ValueId cropped(Emitter& emit, ValueId value, std::span<const DimPiece> dims) {
  Type type = emit.out.type_of(value);
  std::vector<std::int64_t> starts, limits;
  bool any = false;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    any = any || dims[d].low_margin != 0 || dims[d].high_margin != 0;
    starts.push_back(dims[d].low_margin);
    limits.push_back(type.shape[d] - dims[d].high_margin);
    type.shape[d] = limits.back() - starts.back();
  }
  if (!any) return value;
  const std::vector<std::int64_t> steps(dims.size(), 1);
  return emit.op(
      "stablehlo.slice", {value}, type,
      {{"start_indices", list(starts)}, {"limit_indices", list(limits)}, {"strides", list(steps)}});
}

// A contiguous piece of a value that is there as a whole; zeros beyond its end.
ValueId cut_out(Emitter& emit, ValueId value, std::span<const DimPiece> dims) {
  Type type = emit.out.type_of(value);
  std::vector<std::int64_t> starts, limits, none(dims.size(), 0), high, ones(dims.size(), 1);
  Type cut = type;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t begin = std::min(dims[d].start, type.shape[d]);
    const std::int64_t end = std::min(dims[d].start + dims[d].size(), type.shape[d]);
    starts.push_back(begin);
    limits.push_back(end);
    cut.shape[d] = end - begin;
    high.push_back(dims[d].size() - cut.shape[d]);
  }
  ValueId part = emit.op(
      "stablehlo.slice", {value}, cut,
      {{"start_indices", list(starts)}, {"limit_indices", list(limits)}, {"strides", list(ones)}});
  ValueId zero = emit.constant(Array(Type::tensor(type.dtype, {})));
  return emit.op("stablehlo.pad", {part, zero}, piece_type(type, dims),
                 {{"edge_padding_low", list(none)},
                  {"edge_padding_high", list(high)},
                  {"interior_padding", list(none)}});
}

ValueId plus(Emitter& emit, ValueId value, std::int64_t number) {
  if (number == 0) return value;
  const Type type = emit.out.type_of(value);
  const Array constant = dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T scalar = convert_scalar<T>(number);
    return Array::splat(type, std::as_bytes(std::span(&scalar, 1)));
  });
  return emit.op("stablehlo.add", {value, emit.constant(constant)}, type);
}

}  // namespace

Expected<std::vector<ValueId>> emit_piece(Program& out, RegionId at, const Program& program,
                                          const Op& op, const IndexRule& rule, const OpPiece& piece,
                                          std::span<const ValueId> operands,
                                          std::span<const ValueId> begins) {
  Emitter emit{out, at};
  std::vector<ValueId> inputs(operands.begin(), operands.begin() + op.operand_count);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<IndexShift> mine;
    for (const IndexShift& shift : piece.shifts)
      if (shift.operand == static_cast<int>(i)) mine.push_back(shift);
    if (!mine.empty()) inputs[i] = shifted(emit, inputs[i], mine, begins);
  }
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Type& type = program.type_of(program.result(op, i));
    types.push_back(out.intern(piece.from_whole ? type : piece_type(type, piece.results[i].dims)));
  }
  HEDDLE_TRY(std::vector<RegionId> regions, piece_regions(out, program, op, rule, piece, operands));
  const OpId id = out.add_op(at, *op.def, inputs, types, piece.attrs, regions);
  std::vector<ValueId> results;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    ValueId value = out.result(out.op(id), i);
    value = piece.from_whole ? cut_out(emit, value, piece.results[i].dims)
                             : cropped(emit, value, piece.results[i].dims);
    value = plus(emit, value, piece.add);
    if (const ValueId more = begin_of(begins, piece.add_factor); more != kNone) {
      // A copy: emitting moves types. NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
      const Type type = out.type_of(value);
      const Type scalar = Type::tensor(type.dtype, {});
      const ValueId amount = emit.op("stablehlo.convert", {more}, scalar);
      value = emit.op("stablehlo.add", {value, over_shape(emit, amount, type)}, type);
    }
    results.push_back(value);
  }
  return results;
}

namespace {

std::string_view combining_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return "stablehlo.add";
    case ReduceOp::product:
      return "stablehlo.multiply";
    case ReduceOp::min:
      return "stablehlo.minimum";
    case ReduceOp::max:
      return "stablehlo.maximum";
    case ReduceOp::logical_and:
      return "stablehlo.and";
    case ReduceOp::logical_or:
      break;
  }
  return "stablehlo.or";
}

// All partial values of one result under each other, along a new first dimension.
ValueId stacked(Emitter& emit, std::span<const std::vector<ValueId>> partials, std::size_t i) {
  std::vector<ValueId> rows;
  Type type;
  for (const std::vector<ValueId>& partial : partials) {
    type = emit.out.type_of(partial[i]);
    type.shape.insert(type.shape.begin(), 1);
    rows.push_back(emit.op("stablehlo.reshape", {partial[i]}, type));
  }
  type.shape[0] = static_cast<std::int64_t>(partials.size());
  return emit.op("stablehlo.concatenate", rows, type,
                 {{"dimension", Attr{Attr::Integer{0, "i64"}}}});
}

}  // namespace

std::vector<ValueId> emit_combined(Program& out, RegionId at, const Program& program, const Op& op,
                                   const IndexRule& rule,
                                   std::span<const std::vector<ValueId>> partials,
                                   std::span<const ValueId> operands) {
  Emitter emit{out, at};
  std::vector<ValueId> results = partials[0];
  if (rule.combine.op) {
    for (std::size_t i = 0; i < results.size(); ++i)
      for (std::size_t p = 1; p < partials.size(); ++p)
        results[i] = emit.op(combining_op(*rule.combine.op), {results[i], partials[p][i]},
                             out.type_of(results[i]));
    return results;
  }
  // By the op's own body: inputs come first, then as many initial values.
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < results.size(); ++i) inputs.push_back(stacked(emit, partials, i));
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < results.size(); ++i) {
    inputs.push_back(operands[results.size() + i]);
    types.push_back(out.value(results[i]).type);
  }
  ValueMap values;
  const RegionId body = clone_region(out, program, program.regions(op)[0], values);
  const OpId id = out.add_op(at, *find_op("stablehlo.reduce"), inputs, types,
                             {{"dimensions", list({0})}}, {&body, 1});
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = out.result(out.op(id), i);
  return results;
}

}  // namespace heddle
