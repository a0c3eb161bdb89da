// heddle.numpy.ndarray for Python: operators and indices in C++; methods where time does not matter
// are added in python/heddle/numpy.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "heddle/array_ops.h"
#include "python/bindings.h"
#include "python/host_array.h"
#include "python/recorded.h"

namespace heddle::python {

void add_lent_memory(nb::module_& module);

namespace {

// Python calls these directly: nothing may be thrown through it.
template <typename Work>
PyObject* guarded(Work work) {
  try {
    return nb::object(work()).release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

constexpr char kAdd[] = "add", kSubtract[] = "subtract", kMultiply[] = "multiply",
               kDivide[] = "divide", kFloorDivide[] = "floor_divide", kRemainder[] = "remainder",
               kAnd[] = "bitwise_and", kOr[] = "bitwise_or", kXor[] = "bitwise_xor",
               kLeft[] = "left_shift", kRight[] = "right_shift", kNegative[] = "negative",
               kPositive[] = "positive", kAbsolute[] = "absolute", kInvert[] = "invert",
               kPower[] = "power";

template <const char* name>
PyObject* binary(PyObject* x, PyObject* y) {
  static const int call = elementwise_number(name);
  return guarded([&] { return call_elementwise(call, x, y); });
}
template <const char* name>
PyObject* into(PyObject* x, PyObject* y) {
  static const int call = elementwise_number(name);
  return guarded([&] { return call_elementwise_into(call, x, y); });
}
template <const char* name>
PyObject* unary(PyObject* x) {
  static const int call = elementwise_number(name);
  return guarded([&] { return call_elementwise(call, x, {}); });
}
PyObject* power(PyObject* x, PyObject* y, PyObject*) { return binary<kPower>(x, y); }
PyObject* power_into(PyObject* x, PyObject* y, PyObject*) { return into<kPower>(x, y); }

PyObject* compared(PyObject* x, PyObject* y, int how) {
  static const int calls[] = {elementwise_number("less"),    elementwise_number("less_equal"),
                              elementwise_number("equal"),   elementwise_number("not_equal"),
                              elementwise_number("greater"), elementwise_number("greater_equal")};
  return guarded([&] { return call_elementwise(calls[how], x, y); });
}

PyObject* subscript(PyObject* self, PyObject* at) {
  return guarded([&] { return get_item(self, at); });
}
int assign(PyObject* self, PyObject* at, PyObject* value) {
  try {
    if (value == nullptr) throw nb::value_error("cannot delete array elements");
    set_item(self, at, value);
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

Py_ssize_t length(PyObject* self) {
  const RecordedArray& array = *nb::inst_ptr<RecordedArray>(self);
  if (array.view.rank() > 0) return array.shape()[0];
  PyErr_SetString(PyExc_TypeError, "len() of unsized object");
  return -1;
}

template <typename F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

PyType_Slot slots[] = {
    {Py_nb_add, slot(binary<kAdd>)},
    {Py_nb_subtract, slot(binary<kSubtract>)},
    {Py_nb_multiply, slot(binary<kMultiply>)},
    {Py_nb_true_divide, slot(binary<kDivide>)},
    {Py_nb_floor_divide, slot(binary<kFloorDivide>)},
    {Py_nb_remainder, slot(binary<kRemainder>)},
    {Py_nb_power, slot(power)},
    {Py_nb_and, slot(binary<kAnd>)},
    {Py_nb_or, slot(binary<kOr>)},
    {Py_nb_xor, slot(binary<kXor>)},
    {Py_nb_lshift, slot(binary<kLeft>)},
    {Py_nb_rshift, slot(binary<kRight>)},
    {Py_nb_negative, slot(unary<kNegative>)},
    {Py_nb_positive, slot(unary<kPositive>)},
    {Py_nb_absolute, slot(unary<kAbsolute>)},
    {Py_nb_invert, slot(unary<kInvert>)},
    {Py_nb_inplace_add, slot(into<kAdd>)},
    {Py_nb_inplace_subtract, slot(into<kSubtract>)},
    {Py_nb_inplace_multiply, slot(into<kMultiply>)},
    {Py_nb_inplace_true_divide, slot(into<kDivide>)},
    {Py_nb_inplace_floor_divide, slot(into<kFloorDivide>)},
    {Py_nb_inplace_remainder, slot(into<kRemainder>)},
    {Py_nb_inplace_power, slot(power_into)},
    {Py_nb_inplace_and, slot(into<kAnd>)},
    {Py_nb_inplace_or, slot(into<kOr>)},
    {Py_nb_inplace_xor, slot(into<kXor>)},
    {Py_nb_inplace_lshift, slot(into<kLeft>)},
    {Py_nb_inplace_rshift, slot(into<kRight>)},
    {Py_tp_richcompare, slot(compared)},
    {Py_tp_hash, slot(PyObject_HashNotImplemented)},
    {Py_mp_subscript, slot(subscript)},
    {Py_mp_ass_subscript, slot(assign)},
    {Py_mp_length, slot(length)},
    {0, nullptr},
};

nb::object transposed(const RecordedArray& self, const std::vector<std::size_t>& order) {
  return to_object(RecordedArray(self.store, self.view.transposed(order), self.writable));
}

// None where no view does it.
nb::object reshaped(const RecordedArray& self, const Shape& shape) {
  auto view = self.view.reshaped(shape);
  if (view) return to_object(RecordedArray(self.store, *std::move(view), self.writable));
  if (!can_show(self) || self.at_rest()) return nb::none();
  Recorder& recorder = Recording::get().recorder;
  return to_object(recorder.keep(
      [&](Builder& b) { return b.reshape(recorder.read(*self.store, self.view).value(), shape); }));
}

nb::object broadcast_to(const RecordedArray& self, const Shape& shape) {
  auto view = self.view.broadcast(shape);
  if (!view) return nb::none();
  return to_object(RecordedArray(self.store, *std::move(view), false));
}

// A NumPy array over its memory: for writing where that was asked for, else read-only where
// somebody else holds that memory too.
nb::object host(RecordedArray& self, bool for_writing) {
  if (for_writing) {
    if (!self.writable) throw nb::value_error("assignment destination is read-only");
    make_writable(self);
    return host_of(self);
  }
  const nb::object array = host_of(self);
  if (self.writable && self.store->is_sole_owner()) return array;
  nb::object shown = array.attr("view")();
  shown.attr("setflags")(nb::arg("write") = false);
  return shown;
}

// What others may keep: a later write does not reach it.
nb::object snapshot(RecordedArray& self) {
  const Array memory = Recording::get().recorder.host(*self.store).value();
  if (self.view.elements() == 0) return host_of(self);
  const nb::object all =
      to_numpy(memory.reinterpreted(Type::tensor(self.dtype(), {memory.elements()})));
  const std::int64_t item = byte_size(self.dtype());
  Shape strides = self.view.strides;
  for (std::int64_t& stride : strides) stride *= item;
  static const nb::handle ndarray =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
  return ndarray(shape_tuple(self.shape()), numpy_dtype(self.dtype()), all, self.view.offset * item,
                 shape_tuple(strides));
}

// ndarray(shape, …), as NumPy has it; memory of a buffer is copied.
void make(RecordedArray* self, const nb::args& args, const nb::kwargs& kwargs) {
  const nb::object made = nb::module_::import_("numpy").attr("ndarray")(*args, **kwargs);
  if (args.size() < 3 && !kwargs.contains("buffer")) made.attr("fill")(0);
  const nb::object ours = adopted(made);
  const RecordedArray* array = as_recorded(ours);
  if (array == nullptr) throw nb::type_error("arrays of this type are NumPy's: use numpy.ndarray");
  new (self) RecordedArray(array->store, array->view, true);
}

nb::object wrap(nb::object result, const std::vector<nb::object>& given) {
  std::vector<RecordedArray*> arrays;
  for (const nb::object& one : given)
    if (RecordedArray* array = as_recorded(one)) arrays.push_back(array);
  return wrapped(std::move(result), arrays);
}

}  // namespace

void add_recorded(nb::module_& module) {
  add_lent_memory(module);
  nb::class_<RecordedArray>(
      module, "_ndarray", nb::type_slots(slots), nb::is_weak_referenceable(),
      "An array of heddle.numpy: calls on it are recorded, and run when values "
      "are read.")
      .def("__init__", make)
      .def_prop_ro(
          "shape", [](const RecordedArray& self) { return shape_tuple(self.shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dtype", [](const RecordedArray& self) { return numpy_dtype(self.dtype()); },
          nb::sig("def dtype(self) -> numpy.dtype[typing.Any]"))
      .def_prop_ro("ndim", [](const RecordedArray& self) { return self.view.rank(); })
      .def_prop_ro("size", [](const RecordedArray& self) { return self.view.elements(); })
      .def_prop_ro("strides",
                   [](const RecordedArray& self) {
                     Shape bytes = self.view.strides;
                     for (std::int64_t& step : bytes) step *= byte_size(self.dtype());
                     return shape_tuple(bytes);
                   })
      .def_prop_ro("_writable", [](const RecordedArray& self) { return self.writable; })
      .def_prop_ro("_pending", [](const RecordedArray& self) { return self.store->is_pending(); })
      .def("_pending_or_large",
           [](const RecordedArray& self) {
             return !self.at_rest() || self.view.elements() > Recording::get().at_once;
           })
      .def("_host", host, nb::arg("for_writing") = false)
      .def("_host_is",
           [](const RecordedArray& self, nb::handle array) { return self.host.is(array); })
      .def("_snapshot", snapshot)
      .def("_transposed", transposed)
      .def("_reshaped", reshaped)
      .def("_broadcast_to", broadcast_to)
      .def("_order",
           [](const RecordedArray& self) {
             const AffineView* view = &self.view;
             return memory_order({&view, 1}, self.view.rank());
           })
      .def("_read_only",
           [](const RecordedArray& self) {
             return to_object(RecordedArray(self.store, self.view, false));
           })
      .def_prop_ro("_writes", [](const RecordedArray& self) { return self.store->writes(); })
      .def("_can_show", [](const RecordedArray& self) { return can_show(self); })
      .def("_shares", [](const RecordedArray& self, const RecordedArray& other) {
        return self.store == other.store;
      });
  module.def("_wrap_numpy", wrap, nb::arg("result"), nb::arg("given"));
  module.def("_adopt", [](nb::handle value) { return adopted(value); });
  add_recorded_calls(module);
  add_recorded_library(module);
}

}  // namespace heddle::python
