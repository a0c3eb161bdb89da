// Calls that Python's side of heddle.numpy asks for by name, after it has checked them: each is
// recorded, or answered with None where NumPy has to do it.
#include "python/recorded_calls.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "heddle/array_ops.h"
#include "python/bindings.h"

namespace heddle::python {

namespace {

// The same without dimensions that a reduction drops.
std::vector<std::size_t> order_without(const RecordedArray& array, const Dims& dims, bool keep) {
  if (keep) return order_of(array);
  std::vector<std::size_t> order;
  for (std::size_t d : order_of(array)) {
    if (std::ranges::count(dims, static_cast<std::int64_t>(d)) > 0) continue;
    const auto dropped = std::ranges::count_if(
        dims, [&](std::int64_t one) { return one < static_cast<std::int64_t>(d); });
    order.push_back(d - static_cast<std::size_t>(dropped));
  }
  return order;
}

nb::object reduce(const std::string& name, nb::handle of, const Dims& dims, bool keep,
                  nb::handle dtype) {
  RecordedArray* array = array_of(of);
  if (!is_recorded({array})) return nb::none();
  const DType in = dtype_of(dtype);
  if (PyObject* const made = plain_reduce(name, *array, dims, keep, in)) return nb::steal(made);
  return keep_in_order(
      order_without(*array, dims, keep),
      [&](Builder& b) { return reduce_call(b, name, cast(b, read_array(*array), in), dims, keep); },
      {direct_function("reduce"),
       {object(name),
        {array},
        {nullptr, shape_tuple(dims)},
        object(keep),
        {nullptr, nb::borrow(dtype)}},
       in});
}

nb::object arg_extremum_of(bool greatest, nb::handle of, std::int64_t dim, bool keep) {
  RecordedArray* array = array_of(of);
  if (!is_recorded({array})) return nb::none();
  nb::dict named;
  named["axis"] = dim;
  named["keepdims"] = keep;
  return keep_array(
      [&](Builder& b) { return arg_extremum(b, greatest, read_array(*array), dim, keep); },
      {numpy_function(greatest ? "argmax" : "argmin"), {{array}}, DType::i64, named});
}

nb::object running_of(const std::string& name, nb::handle of, std::int64_t dim, nb::handle dtype) {
  RecordedArray* array = array_of(of);
  if (!is_recorded({array})) return nb::none();
  const DType in = dtype_of(dtype);
  return keep_in_order(
      order_of(*array),
      [&](Builder& b) { return running(b, name, cast(b, read_array(*array), in), dim); },
      {numpy_function(name.c_str()), {{array}, object(dim), {nullptr, nb::borrow(dtype)}}, in});
}

nb::object matmul(nb::handle x, nb::handle y, nb::handle dtype) {
  RecordedArray *a = array_of(x), *c = array_of(y);
  if (!is_recorded({a, c})) return nb::none();
  const DType in = dtype_of(dtype);
  if (PyObject* const made = library_product(x.ptr(), y.ptr())) return nb::steal(made);
  if (PyObject* const made = plain_product(*a, *c, in)) return nb::steal(made);
  return keep_array(
      [&](Builder& b) {
        return matmul_call(b, cast(b, read_array(*a), in), cast(b, read_array(*c), in));
      },
      {direct_function("product"), {object("matmul"), {a}, {c}, {nullptr, nb::borrow(dtype)}}, in});
}

// Products summed over pairs of dimensions; the rest of both follows.
nb::object tensordot(nb::handle x, nb::handle y, const Dims& from_x, const Dims& from_y,
                     nb::handle dtype) {
  RecordedArray *a = array_of(x), *c = array_of(y);
  if (!is_recorded({a, c})) return nb::none();
  const DType in = dtype_of(dtype);
  const nb::object axes = nb::make_tuple(shape_tuple(from_x), shape_tuple(from_y));
  return keep_array(
      [&](Builder& b) {
        return b.dot(cast(b, read_array(*a), in), cast(b, read_array(*c), in),
                     {{}, {}, from_x, from_y});
      },
      {direct_function("product"),
       {object("tensordot"), {a}, {c}, {nullptr, nb::borrow(dtype)}, {nullptr, axes}},
       in});
}

nb::object astype(nb::handle of, nb::handle dtype) {
  RecordedArray* array = array_of(of);
  if (!is_recorded({array})) return nb::none();
  const DType to = dtype_of(dtype);
  if (is_complex(array->dtype()) && !is_complex(to)) return nb::none();
  return keep_in_order(order_of(*array),
                       [&](Builder& b) { return cast(b, read_array(*array), to); },
                       {numpy_function("array"), {{array}, {nullptr, nb::borrow(dtype)}}, to});
}

nb::object copy(nb::handle of) {
  RecordedArray* array = array_of(of);
  if (!is_recorded({array})) return nb::none();
  return keep_array([&](Builder&) { return read_array(*array); },
                    {numpy_function("array"), {{array}}, array->dtype()});
}

// Every element a number.
nb::object full(const Shape& shape, nb::handle value, nb::handle dtype) {
  const auto operand = operand_of(value);
  const Type type = Type::tensor(dtype_of(dtype), shape);
  if (!operand || operand->array || type.elements() <= Recording::get().at_once) return nb::none();
  const auto number = number_as(*operand, type.dtype);
  if (!number) return nb::none();
  return keep_array(
      [&](Builder& b) { return spread(b, recorder().scalar(*number), shape); },
      {numpy_function("full"),
       {{nullptr, shape_tuple(shape)}, {nullptr, nb::borrow(value)}, {nullptr, nb::borrow(dtype)}},
       type.dtype});
}

// start, start + step, …
nb::object arange(std::int64_t size, nb::handle start, nb::handle step, nb::handle dtype) {
  const auto first = operand_of(start), by = operand_of(step);
  const Type type = Type::tensor(dtype_of(dtype), {size});
  if (!first || !by || first->array || by->array || size <= Recording::get().at_once)
    return nb::none();
  const auto from = number_as(*first, type.dtype), stride = number_as(*by, type.dtype);
  if (!from || !stride) return nb::none();
  return keep_array(
      [&](Builder& b) {
        const Var places = b.iota(type, 0);
        const Var way = b.op("multiply", {places, spread(b, recorder().scalar(*stride), {size})});
        return b.op("add", {spread(b, recorder().scalar(*from), {size}), way});
      },
      {direct_function("arange"),
       {object(size),
        {nullptr, nb::borrow(start)},
        {nullptr, nb::borrow(step)},
        {nullptr, nb::borrow(dtype)}},
       type.dtype});
}

}  // namespace

// Python's side knows what these are for; their types are in python/heddle/numpy.
void add_recorded_calls(nb::module_& module) {
  nb::module_ calls = module.def_submodule("_recorded", "Calls on recorded arrays, by name.");
  calls.def("reduce", reduce);
  calls.def("arg_extremum", arg_extremum_of);
  calls.def("running", running_of);
  calls.def("matmul", matmul);
  calls.def("tensordot", tensordot);
  calls.def("astype", astype);
  calls.def("copy", copy);
  calls.def("full", full);
  calls.def("arange", arange);
  add_recorded_choices(calls);
  add_recording_state(calls);
  calls.def("elementwise_names", [] {
    std::vector<std::string> names;
    for (const ElementwiseCall& call : elementwise_calls()) names.emplace_back(call.name);
    return names;
  });
  calls.def(
      "elementwise",
      [](int call, nb::handle x, nb::handle y) { return call_elementwise(call, x, y); }, nb::arg(),
      nb::arg(), nb::arg() = nb::none());
  calls.def("elementwise_into", [](int call, nb::handle into, nb::handle other) {
    return call_elementwise_into(call, into, other);
  });
}

}  // namespace heddle::python
