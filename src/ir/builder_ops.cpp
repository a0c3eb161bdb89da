// The builder's own words for the common ops.
#include <algorithm>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "ir/eval/scalar.h"

namespace heddle {

namespace {

using Dims = Builder::Dims;

NamedAttr integers(Name name, Dims values) { return {std::move(name), {std::move(values)}}; }
NamedAttr integer(Name name, std::int64_t value) {
  return {std::move(name), {Attr::Integer{value}}};
}
// {…} would copy what it lists.
AttrDict only(NamedAttr attr) {
  AttrDict attrs;
  attrs.push_back(std::move(attr));
  return attrs;
}

bool within(const Dims& dims, std::size_t rank) {
  return std::ranges::all_of(
      dims, [&](std::int64_t d) { return d >= 0 && d < static_cast<std::int64_t>(rank); });
}
bool contains(const Dims& dims, std::size_t d) {
  return std::ranges::find(dims, static_cast<std::int64_t>(d)) != dims.end();
}

Shape picked(const Shape& shape, const Dims& dims) {
  Shape sizes;
  for (std::int64_t d : dims) sizes.push_back(shape[static_cast<std::size_t>(d)]);
  return sizes;
}
Shape without(const Shape& shape, const Dims& dims) {
  Shape sizes;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!contains(dims, d)) sizes.push_back(shape[d]);
  return sizes;
}

// What a combiner leaves unchanged, as an element of the type.
std::optional<double> neutral(std::string_view combiner, DType dtype) {
  const bool real = is_float(dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  if (combiner == "add" || combiner == "or") return 0;
  if (combiner == "multiply") return 1;
  // Whole numbers saturate on conversion, to the least and the greatest.
  if (combiner == "maximum") return dtype == DType::i1 ? 0 : -infinity;
  if (combiner == "minimum") return dtype == DType::i1 ? 1 : infinity;
  if (combiner == "and" && !real) return dtype == DType::i1 || dtype < DType::ui2 ? -1 : infinity;
  return {};
}

}  // namespace

Var Builder::constant(Array value) {
  return op("constant", {}, only({"value", {std::move(value)}}));
}

Var Builder::full(const Type& type, double value) {
  if (!type.is_tensor()) {
    mistake("constant", fmt::format("{} has no elements to fill", type.str()));
    return {};
  }
  return dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return constant(filled_array<T>(type, convert_scalar<T>(value)));
  });
}

Var Builder::iota(const Type& type, std::int64_t dimension) {
  return op("iota", {}, type, {integer("iota_dimension", dimension)});
}

Var Builder::convert(Var x, DType dtype) {
  if (x.none() || x.type().dtype == dtype) return x;
  return op("convert", {x}, Type::tensor(dtype, x.type().shape));
}

Var Builder::bitcast(Var x, DType dtype) {
  return op("bitcast_convert", {x}, Type::tensor(dtype, x.type().shape));
}

Var Builder::reshape(Var x, Shape shape) {
  return op("reshape", {x}, Type::tensor(x.type().dtype, std::move(shape)));
}

Var Builder::broadcast(Var x, Shape shape, Dims dims) {
  return op("broadcast_in_dim", {x}, Type::tensor(x.type().dtype, std::move(shape)),
            {integers("broadcast_dimensions", std::move(dims))});
}

Var Builder::transpose(Var x, Dims permutation) {
  return op("transpose", {x}, only(integers("permutation", std::move(permutation))));
}

Var Builder::slice(Var x, Dims start, Dims limit, Dims strides) {
  if (strides.empty()) strides.assign(start.size(), 1);
  AttrDict attrs = only(integers("start_indices", std::move(start)));
  attrs.push_back(integers("limit_indices", std::move(limit)));
  attrs.push_back(integers("strides", std::move(strides)));
  return op("slice", {x}, std::move(attrs));
}

Var Builder::concatenate(const Vars& parts, std::int64_t dimension) {
  return op("concatenate", parts, only(integer("dimension", dimension)));
}

Var Builder::compare(std::string_view direction, Var x, Var y, std::string_view order) {
  AttrDict attrs = only({"comparison_direction", {Attr::Enum{"comparison_direction", direction}}});
  if (!order.empty()) attrs.push_back({"compare_type", {Attr::Enum{"comparison_type", order}}});
  return op("compare", {x, y}, std::move(attrs));
}

Var Builder::reduce(Var x, Dims dims, std::string_view combiner) {
  if (!usable("reduce", {&x, 1})) return {};
  const Type type = x.type();
  const Type scalar = Type::tensor(type.dtype, {});
  const auto start = neutral(combiner, type.dtype);
  if (!type.is_tensor() || !start) {
    mistake("reduce",
            fmt::format("there is no combiner {} of {}; there are add, multiply, maximum, "
                        "minimum, and, or",
                        combiner, type.str()));
    return {};
  }
  const RegionId body = region(
      {scalar, scalar}, [&](const Vars& in) -> Vars { return {op(combiner, {in[0], in[1]})}; });
  const Vars results = inferred("reduce", {x, full(scalar, *start)},
                                only(integers("dimensions", std::move(dims))), {body});
  return results.empty() ? Var() : results[0];
}

Var Builder::dot(Var x, Var y, const DotDims& dims, std::optional<DType> result, AttrDict more) {
  const Type lhs = x.type(), rhs = y.type();
  Type type = Type::tensor(result.value_or(lhs.dtype), {});
  if (within(dims.lhs_batch, lhs.rank())) type.shape = picked(lhs.shape, dims.lhs_batch);
  for (auto [of, batch, sum] : {std::tuple(&lhs, &dims.lhs_batch, &dims.lhs_sum),
                                std::tuple(&rhs, &dims.rhs_batch, &dims.rhs_sum)}) {
    Dims taken = *batch;
    taken.insert(taken.end(), sum->begin(), sum->end());
    const Shape rest = without(of->shape, taken);
    type.shape.insert(type.shape.end(), rest.begin(), rest.end());
  }
  Attr::Struct numbers{"dot", {}};
  if (!dims.lhs_batch.empty() || !dims.rhs_batch.empty()) {
    numbers.fields.push_back(integers("lhs_batching_dimensions", dims.lhs_batch));
    numbers.fields.push_back(integers("rhs_batching_dimensions", dims.rhs_batch));
  }
  numbers.fields.push_back(integers("lhs_contracting_dimensions", dims.lhs_sum));
  numbers.fields.push_back(integers("rhs_contracting_dimensions", dims.rhs_sum));
  more.push_back({"dot_dimension_numbers", {std::move(numbers)}});
  return op("dot_general", {x, y}, type, std::move(more));
}

Var Builder::dot(Var x, Var y) {
  return dot(x, y, {{}, {}, {static_cast<std::int64_t>(x.type().rank()) - 1}, {0}});
}

Vars Builder::while_loop(const Vars& start, const std::function<Var(const Vars&)>& go_on,
                         const Body& body) {
  std::vector<Type> types;
  for (const Var& v : start) types.push_back(v.type());
  const RegionId condition =
      region(types, [&](const Vars& state) -> Vars { return {go_on(state)}; });
  const RegionId step = region(types, body);
  return ops("while", start, types, {}, {condition, step});
}

Vars Builder::if_else(Var condition, const std::function<Vars()>& yes,
                      const std::function<Vars()>& no) {
  std::vector<Type> types;
  const RegionId first = region({}, [&](const Vars&) {
    const Vars results = yes();
    for (const Var& v : results) types.push_back(v.type());
    return results;
  });
  const RegionId second = region({}, [&](const Vars&) { return no(); });
  return ops("if", {condition}, types, {}, {first, second});
}

Vars Builder::call(std::string_view function, const Vars& arguments) {
  const Function* f = program.find_function(function);
  if (!f) {
    mistake("call",
            fmt::format("there is no function @{} yet: write it before its calls", function));
    return {};
  }
  std::vector<Type> types;
  for (TypeId t : f->results) types.push_back(program.type(t));
  return ops("func.call", arguments, types, {{"callee", {Attr::Symbol{std::string(function)}}}});
}

}  // namespace heddle
