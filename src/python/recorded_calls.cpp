// Calls that Python's side of heddle.numpy asks for by name, after it has checked them: each is
// recorded, or answered with None where NumPy has to do it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "heddle/array_ops.h"
#include "python/bindings.h"
#include "python/host_array.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

using Dims = Builder::Dims;

Recorder& recorder() { return Recording::get().recorder; }

// Whether a call on these is recorded: something is large or not there yet, and all can be shown.
bool is_recorded(std::initializer_list<RecordedArray*> arrays) {
  bool worth = false;
  for (RecordedArray* array : arrays) {
    if (!can_show(*array)) return false;
    worth = worth || !array->at_rest() || array->view.elements() > Recording::get().at_once;
  }
  return worth;
}

// As the array lies.
std::vector<std::size_t> order_of(const RecordedArray& array) {
  const AffineView* view = &array.view;
  return memory_order({&view, 1}, array.view.rank());
}

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

template <typename T>
Given object(const T& value) {
  return {nullptr, nb::cast(value)};
}
Given given_of(const Operand& operand) {
  return {operand.array, operand.array ? nb::object() : operand.object};
}
nb::object numpy_function(const char* name) { return nb::module_::import_("numpy").attr(name); }

RecordedArray* array_of(nb::handle value) {
  RecordedArray* array = as_recorded(value);
  if (array == nullptr) throw nb::type_error("an ndarray of heddle.numpy was expected");
  return array;
}

nb::object reduce(const std::string& name, nb::handle of, const Dims& dims, bool keep,
                  nb::handle dtype) {
  RecordedArray* array = array_of(of);
  if (!is_recorded({array})) return nb::none();
  const DType in = dtype_of(dtype);
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

// where(condition, x, y), all of which are arrays or numbers.
nb::object where(nb::handle condition, nb::handle x, nb::handle y, nb::handle dtype) {
  const DType in = dtype_of(dtype);
  Operand operands[3];
  std::optional<Array> numbers[3];
  Shape shape;
  bool worth = false;
  const nb::handle given[3] = {condition, x, y};
  for (int i = 0; i < 3; ++i) {
    auto operand = operand_of(given[i]);
    if (!operand) return nb::none();
    operands[i] = *std::move(operand);
    if (RecordedArray* array = operands[i].array) {
      const auto all = broadcast_shapes(shape, array->shape());
      if (!all || !can_show(*array)) return nb::none();
      shape = *all;
      worth = worth || !array->at_rest() || array->view.elements() > Recording::get().at_once;
    } else if (!(numbers[i] = number_as(operands[i], i == 0 ? DType::i1 : in))) {
      return nb::none();
    }
  }
  if (!worth) return nb::none();
  std::vector<const AffineView*> views;
  for (const Operand& operand : operands)
    if (operand.array) views.push_back(&operand.array->view);
  return keep_in_order(memory_order(views, shape.size()),
                       [&](Builder& b) {
                         const Var c = read_as(b, operands[0], numbers[0], DType::i1, shape);
                         return b.select(c, read_as(b, operands[1], numbers[1], in, shape),
                                         read_as(b, operands[2], numbers[2], in, shape));
                       },
                       {direct_function("where"),
                        {given_of(operands[0]),
                         given_of(operands[1]),
                         given_of(operands[2]),
                         {nullptr, nb::borrow(dtype)}},
                        in});
}

// array[mask] = number, where the mask has the array's first dimensions.
bool put_where(nb::handle self, nb::handle mask, nb::handle value) {
  RecordedArray *array = array_of(self), *chosen = array_of(mask);
  const auto operand = operand_of(value);
  if (!is_recorded({array, chosen}) || !Recorder::can_write(*array->store, array->view))
    return false;
  if (!array->writable || !operand) return false;
  const Shape shape = array->shape();
  const Shape& first = chosen->shape();
  if (first.size() > shape.size() || !std::equal(first.begin(), first.end(), shape.begin()))
    return false;
  std::optional<Array> number;
  const DType dtype = array->dtype();
  if (operand->array) {
    if (operand->array->view.rank() != 0 || !can_show(*operand->array)) return false;
    if (is_complex(operand->dtype) && !is_complex(dtype)) return false;
  } else if (!(number = number_as(*operand, dtype))) {
    return false;
  }
  write_array(*array,
              [&](Builder& b) {
                Dims dims(first.size());
                for (std::size_t d = 0; d < dims.size(); ++d)
                  dims[d] = static_cast<std::int64_t>(d);
                const Var where = b.broadcast(read_array(*chosen), shape, dims);
                return b.select(where, read_as(b, *operand, number, dtype, shape),
                                read_array(*array));
              },
              {setitem(), {{}, {chosen}, given_of(*operand)}});
  return true;
}

nb::object concatenate(const std::vector<nb::object>& parts, std::int64_t dim, nb::handle dtype) {
  bool worth = false;
  std::vector<RecordedArray*> arrays;
  for (const nb::object& part : parts) {
    RecordedArray* array = array_of(part);
    if (array->view.elements() == 0) continue;
    if (!can_show(*array)) return nb::none();
    worth = worth || !array->at_rest() || array->view.elements() > Recording::get().at_once;
    arrays.push_back(array);
  }
  if (!worth) return nb::none();
  const DType in = dtype_of(dtype);
  std::vector<const AffineView*> views;
  NumpyCall direct{direct_function("join"), {object(dim), {nullptr, nb::borrow(dtype)}}, in};
  for (RecordedArray* array : arrays) {
    views.push_back(&array->view);
    direct.given.push_back({array});
  }
  return keep_in_order(
      memory_order(views, arrays[0]->view.rank()),
      [&](Builder& b) {
        Vars vars;
        for (RecordedArray* array : arrays) vars.push_back(cast(b, read_array(*array), in));
        return b.concatenate(vars, dim);
      },
      direct);
}

// array[…] by whole numbers along one dimension, as take: numbers from the end count backwards.
// None of them may be outside, which only their values say: so they have to be in memory.
nb::object take(nb::handle of, nb::handle at, std::int64_t dim) {
  RecordedArray *array = array_of(of), *index = array_of(at);
  if (!is_recorded({array, index})) return nb::none();
  const Shape from = array->shape(), places = index->shape();
  const auto d = static_cast<std::size_t>(dim);
  return keep_array(
      [&](Builder& b) {
        Var i = cast(b, read_array(*index), DType::i64);
        const Var size = b.full_like(i, static_cast<double>(from[d]));
        i = b.select(b.compare("LT", i, b.full_like(i, 0)), b.op("add", {i, size}), i);
        Shape result(from.begin(), from.begin() + dim), sizes = from;
        result.insert(result.end(), places.begin(), places.end());
        result.insert(result.end(), from.begin() + dim + 1, from.end());
        sizes[d] = 1;
        Dims offsets;
        for (std::size_t r = 0; r < result.size(); ++r)
          if (r < d || r >= d + places.size()) offsets.push_back(static_cast<std::int64_t>(r));
        Attr::Struct numbers{
            "gather",
            {{"offset_dims", {offsets}},
             {"collapsed_slice_dims", {Dims{dim}}},
             {"start_index_map", {Dims{dim}}},
             {"index_vector_dim", {Attr::Integer{static_cast<std::int64_t>(places.size())}}}}};
        return b.op(
            "gather", {read_array(*array), i},
            AttrDict{{"dimension_numbers", {std::move(numbers)}}, {"slice_sizes", {sizes}}});
      },
      {numpy_function("take"), {{array}, {index}, object(dim)}, array->dtype()});
}

// array[places] = values along the first dimension, in the order of the places: the last one stays.
bool put_at(nb::handle self, nb::handle at, nb::handle values) {
  RecordedArray *array = array_of(self), *index = array_of(at), *given = array_of(values);
  if (!array->writable || !can_show(*index) || !can_show(*given)) return false;
  if (!Recorder::can_write(*array->store, array->view)) return false;
  write_array(*array,
              [&](Builder& b) {
                const Var into = read_array(*array),
                          places = cast(b, read_array(*index), DType::i64);
                const Var updates = cast(b, read_array(*given), array->dtype());
                const Type scalar = Type::tensor(array->dtype(), {});
                const RegionId body =
                    b.region({scalar, scalar}, [](const Vars& in) -> Vars { return {in[1]}; });
                Dims windows;
                for (std::size_t d = 1; d < array->view.rank(); ++d)
                  windows.push_back(static_cast<std::int64_t>(d));
                Attr::Struct numbers{"scatter",
                                     {{"update_window_dims", {windows}},
                                      {"inserted_window_dims", {Dims{0}}},
                                      {"scatter_dims_to_operand_dims", {Dims{0}}},
                                      {"index_vector_dim", {Attr::Integer{1}}}}};
                const Vars results =
                    b.inferred("scatter", {into, places, updates},
                               {{"scatter_dimension_numbers", {std::move(numbers)}}}, {body});
                return results.empty() ? Var() : results[0];
              },
              {setitem(), {{}, {index}, {given}}});
  return true;
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

// Threads of this process as devices; as ranks it has those that were started.
void set_devices(int count, std::optional<std::int64_t> least) {
  if (recorder().devices() && recorder().devices()->are_ranks())
    throw Error("devices are the ranks that were started, and their number does not change");
  constexpr int kMost = 1024;
  if (count < 1 || count > kMost)
    throw Error(fmt::format("{} devices are asked for: threads can be 1 to {}", count, kMost));
  std::shared_ptr<WindowDevices> devices;
  if (count > 1)
    devices = std::make_shared<WindowDevices>(count, least.value_or(WindowDevices::kLeastElements));
  recorder().set_devices(std::move(devices)).value();
}

nb::dict counts() {
  const RecordCounts& all = recorder().counts();
  nb::dict numbers;
  numbers["windows"] = all.windows;
  numbers["calls"] = all.calls;
  numbers["ops"] = all.ops;
  numbers["launches"] = all.launches;
  numbers["compiled"] = all.compiled;
  numbers["found"] = all.found;
  numbers["direct"] = all.direct;
  numbers["pieces"] = all.pieces;
  numbers["bytes_sent"] = all.bytes_sent;
  numbers["bytes_in"] = all.bytes_in;
  numbers["bytes_out"] = all.bytes_out;
  return numbers;
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
  calls.def("where", where);
  calls.def("put_where", put_where);
  calls.def("concatenate", concatenate);
  calls.def("take", take);
  calls.def("put_at", put_at);
  calls.def("full", full);
  calls.def("arange", arange);
  calls.def("counts", counts);
  calls.def("at_once", [] { return Recording::get().at_once; });
  calls.def("set_at_once", [](std::int64_t elements) { Recording::get().at_once = elements; });
  calls.def("devices", [] {
    const auto& devices = recorder().devices();
    return devices ? devices->count() : 1;
  });
  calls.def("memory_limit", [] { return recorder().memory_limit(); });
  calls.def("set_memory_limit", [](std::int64_t bytes) { recorder().set_memory_limit(bytes); });
  calls.def("devices_for", [](std::int64_t elements) {
    const auto& devices = recorder().devices();
    return devices ? devices->count_for(elements) : 1;
  });
  calls.def("set_devices", set_devices, nb::arg("count"), nb::arg("least") = nb::none());
  calls.def("set_direct", [](const std::string& when) {
    recorder().set_direct(when == "never"    ? DirectRuns::never
                          : when == "always" ? DirectRuns::always
                                             : DirectRuns::unknown);
  });
  calls.def("wait_for_code", [] {
    const nb::gil_scoped_release free;
    recorder().wait_for_code();
  });
  calls.def("stop_compiling", [] { Recording::end(); });
  calls.def("explain", [] { return recorder().explain(); });
  calls.def("set_profiling", [](bool on) { recorder().set_profiling(on); });
  calls.def("profile", [] { return recorder().profile(); });
  calls.def("flush", [] { recorder().flush().value(); });
  calls.def("elementwise_names", [] {
    std::vector<std::string> names;
    for (const ElementwiseCall& call : elementwise_calls()) names.emplace_back(call.name);
    return names;
  });
  calls.def(
      "elementwise",
      [](int call, nb::handle x, nb::object y) { return call_elementwise(call, x, y); }, nb::arg(),
      nb::arg(), nb::arg() = nb::none());
  calls.def("elementwise_into", [](int call, nb::handle into, nb::handle other) {
    return call_elementwise_into(call, into, other);
  });
}

}  // namespace heddle::python
