#include "ir/eval/reduce_common.h"

namespace heddle::reduction {

Verdict tensors_only(const Program& program, const Op& op) {
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (!operand_type(program, op, i).is_tensor())
      return broken(op, fmt::format("I{}", i + 1), "operand {} is {}, expected a tensor", i,
                    operand_type(program, op, i).str());
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (!result_type(program, op, i).is_tensor())
      return reason("{} result {} is {}, expected a tensor", bracketed(op), i,
                    result_type(program, op, i).str());
  return yes();
}

namespace {

std::string types_text(const std::vector<Type>& types) {
  std::string text = "(";
  for (const Type& type : types) text += (text.size() > 1 ? ", " : "") + type.str();
  return text + ")";
}

// The types that the last op of a region hands back.
Expected<std::vector<Type>> returned_types(const Program& program, const Op& op, std::size_t region,
                                           std::string_view label) {
  const Region& body = program.region(program.regions(op)[region]);
  if (body.ops.empty() || !program.op(body.ops.back()).def->short_name().ends_with("return"))
    return broken(op, label, "region {} does not end in a return", region);
  std::vector<Type> types;
  for (ValueId value : program.operands(program.op(body.ops.back())))
    types.push_back(program.type_of(value));
  return types;
}

}  // namespace

Verdict region_types(const Program& program, const Op& op, std::size_t region,
                     std::string_view label, const std::vector<Type>& arguments,
                     const std::vector<Type>& results) {
  std::vector<Type> taken;
  for (ValueId value : program.region(program.regions(op)[region]).args)
    taken.push_back(program.type_of(value));
  HEDDLE_TRY(auto returned, returned_types(program, op, region, label));
  if (taken != arguments)
    return broken(op, label, "region {} takes {}, expected {}", region, types_text(taken),
                  types_text(arguments));
  if (returned != results)
    return broken(op, label, "region {} returns {}, expected {}", region, types_text(returned),
                  types_text(results));
  return yes();
}

Expected<std::vector<DType>> region_dtypes(const Program& program, const Op& op, std::size_t region,
                                           std::string_view label) {
  HEDDLE_TRY(auto returned, returned_types(program, op, region, label));
  std::vector<DType> dtypes;
  for (const Type& type : returned) {
    if (!type.is_tensor() || type.rank() != 0)
      return broken(op, label, "region {} returns {}, expected scalars", region,
                    types_text(returned));
    dtypes.push_back(type.dtype);
  }
  return dtypes;
}

bool promotable(DType from, DType to) {
  if (from == to) return true;
  if (bits(from) > bits(to)) return false;
  return (is_integer(from) && is_integer(to)) || (is_float(from) && is_float(to)) ||
         (is_complex(from) && is_complex(to));
}

Verdict inputs_and_inits(const Program& program, const Op& op, const InputLabels& labels) {
  const std::size_t n = results_given(op) ? op.result_count : op.operand_count / 2;
  if (op.operand_count != 2 * n)
    return broken(op, labels.count,
                  "{} operands and {} results, expected one initial value and one result per input",
                  op.operand_count, n);
  const Type& first = operand_type(program, op, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Type& input = operand_type(program, op, i);
    const Type& init = operand_type(program, op, n + i);
    if (input.shape != first.shape)
      return broken(op, labels.shapes, "input {} is {}, but input 0 is {}: their shapes differ", i,
                    input.str(), first.str());
    if (init != Type::tensor(input.dtype, {}))
      return broken(op, labels.inits, "initial value {} is {}, expected {}", i, init.str(),
                    Type::tensor(input.dtype, {}).str());
  }
  return yes();
}

ReduceValues reduce_values(const EvalContext& ctx) {
  const std::size_t n = ctx.op.result_count;
  ReduceValues values;
  for (std::size_t i = 0; i < n; ++i) {
    const DType dtype = ctx.result_type(i).dtype;
    values.inputs.push_back(converted(ctx.operands[i], dtype));
    values.inits.push_back(converted(ctx.operands[n + i], dtype));
    values.results.emplace_back(ctx.result_type(i));
  }
  return values;
}

Expected<std::vector<DType>> reducer_types(const Program& program, const Op& op, std::size_t inputs,
                                           std::string_view body_label) {
  HEDDLE_TRY(auto dtypes, region_dtypes(program, op, 0, body_label));
  if (dtypes.size() != inputs)
    return broken(op, body_label, "the body returns {} values for {} inputs", dtypes.size(),
                  inputs);
  std::vector<Type> scalars, arguments;
  for (DType dtype : dtypes) scalars.push_back(Type::tensor(dtype, {}));
  arguments = scalars;
  arguments.insert(arguments.end(), scalars.begin(), scalars.end());
  HEDDLE_TRY_VOID(region_types(program, op, 0, body_label, arguments, scalars));
  for (std::size_t i = 0; i < inputs; ++i) {
    const Type& input = operand_type(program, op, i);
    if (!promotable(input.dtype, dtypes[i]))
      return broken(op, body_label, "input {} is {}, which cannot be promoted to the body's {}", i,
                    input.str(), name(dtypes[i]));
  }
  return dtypes;
}

DType product_dtype(const Program& program, const Op& op) {
  return results_given(op) ? result_type(program, op, 0).dtype : operand_type(program, op, 0).dtype;
}

Verdict product_types(const Program& program, const Op& op, std::string_view label) {
  const Type& lhs = operand_type(program, op, 0);
  const Type& rhs = operand_type(program, op, 1);
  const DType a = lhs.dtype, b = rhs.dtype;
  if (a == b || (is_float(a) && is_float(b)) || (is_integer(a) && is_integer(b)) ||
      (is_complex(a) && is_complex(b)))
    return yes();
  return broken(op, label, "the operands are {} and {}: their element types differ", lhs.str(),
                rhs.str());
}

Verdict precision_size(const Program& program, const Op& op, std::string_view label) {
  const Attr* attr = program.attr(op, "precision_config");
  const auto* list = attr ? attr->get<Attr::List>() : nullptr;
  if (list && !list->empty() && list->size() != 2)
    return broken(op, label, "precision_config has {} entries, expected 2", list->size());
  return yes();
}

Verdict dimensions_in_range(const Op& op, std::string_view label, std::string_view what,
                            std::span<const std::int64_t> dims, std::size_t rank) {
  for (std::int64_t d : dims)
    if (d < 0 || d >= static_cast<std::int64_t>(rank))
      return broken(op, label, "{} = {} has {}, expected dimensions from 0 to {} of a rank of {}",
                    what, list_text(dims), d, static_cast<std::int64_t>(rank) - 1, rank);
  return yes();
}

Verdict dimensions_unique(const Op& op, std::string_view label, std::string_view what,
                          std::span<const std::int64_t> dims) {
  Integers sorted(dims.begin(), dims.end());
  std::sort(sorted.begin(), sorted.end());
  if (auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return broken(op, label, "{} = {} has {} twice", what, list_text(dims), *twice);
  return yes();
}

std::int64_t Axes::count() const {
  std::int64_t product = 1;
  for (std::int64_t size : sizes) product *= size;
  return product;
}

double Axes::steps() const {
  double product = 1;
  for (std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

std::int64_t Axes::offset(std::int64_t flat) const {
  std::int64_t at = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    at += flat % sizes[i] * strides[i];
    flat /= sizes[i];
  }
  return at;
}

Integers Axes::offsets() const {
  Integers all;
  const std::int64_t n = count();
  all.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) all.push_back(offset(i));
  return all;
}

Integers strides_of(const Shape& shape) {
  Integers strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Axes axes_of(const Shape& shape, std::span<const std::int64_t> dims) {
  const Integers strides = strides_of(shape);
  Axes axes;
  for (std::int64_t d : dims)
    axes.add(shape[static_cast<std::size_t>(d)], strides[static_cast<std::size_t>(d)]);
  return axes;
}

Integers other_dimensions(std::size_t rank, std::span<const std::int64_t> taken,
                          std::span<const std::int64_t> also_taken) {
  auto has = [](std::span<const std::int64_t> list, std::int64_t d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  Integers rest;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d)
    if (!has(taken, d) && !has(also_taken, d)) rest.push_back(d);
  return rest;
}

template <typename Wide>
std::vector<Wide> widened(const Array& array) {
  const Array wide = converted(array, dtype_of<Wide>());
  const auto values = wide.as<Wide>();
  return {values.begin(), values.end()};
}

template <typename Wide>
Array narrowed(const Type& type, const std::vector<Wide>& values) {
  const Type wide = Type::tensor(dtype_of<Wide>(), type.shape);
  HEDDLE_CHECK(static_cast<std::int64_t>(values.size()) == wide.elements(), "{} values for {}",
               values.size(), type.str());
  return converted(make_array(wide, values), type.dtype);
}

template std::vector<std::uint64_t> widened(const Array&);
template std::vector<float> widened(const Array&);
template std::vector<double> widened(const Array&);
template std::vector<C64> widened(const Array&);
template std::vector<Complex> widened(const Array&);
template Array narrowed(const Type&, const std::vector<std::uint64_t>&);
template Array narrowed(const Type&, const std::vector<float>&);
template Array narrowed(const Type&, const std::vector<double>&);
template Array narrowed(const Type&, const std::vector<C64>&);
template Array narrowed(const Type&, const std::vector<Complex>&);

void put_element(Array& array, std::int64_t flat, const Array& scalar) {
  const auto from = scalar.element(0);
  std::memcpy(array.mutable_bytes().data() + static_cast<std::size_t>(flat) * from.size(),
              from.data(), from.size());
}

Verdict run_reducer(EvalContext& ctx, RegionId region, std::vector<Array>& accumulators,
                    std::vector<Array> elements) {
  std::vector<Array> arguments = std::move(accumulators);
  for (Array& element : elements) arguments.push_back(std::move(element));
  HEDDLE_TRY(accumulators, ctx.run_region(region, std::move(arguments)));
  return yes();
}

}  // namespace heddle::reduction
