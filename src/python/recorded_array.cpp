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

nb::object snapshot(RecordedArray& self);

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

// With an operand that is neither array nor number NumPy decides, unless that one wants to.
nb::object call_or_numpy(int call, nb::handle x, nb::handle y, int how = -1) {
  nb::object result = call_elementwise(call, x, y);
  if (!result.is(Py_NotImplemented)) return result;
  const nb::handle other = as_recorded(x) != nullptr ? y : x;
  if (nb::hasattr(other, "__array_ufunc__") || nb::hasattr(other, "__array_priority__"))
    return result;
  const nb::object a = as_recorded(x) ? host_of(*as_recorded(x)) : nb::borrow(x);
  const nb::object b = as_recorded(y) ? host_of(*as_recorded(y)) : nb::borrow(y);
  // Comparisons have rules of their own for what cannot be compared.
  if (how >= 0) {
    result = nb::steal(PyObject_RichCompare(a.ptr(), b.ptr(), how));
    if (!result.is_valid()) throw nb::python_error();
    return wrapped(std::move(result));
  }
  return wrapped(ufunc_of(call)(a, b));
}

using BinarySlot = PyObject* (*)(PyObject*, PyObject*);
template <const char* name, BinarySlot at_once = nullptr, Tiny tiny = Tiny::none>
PyObject* binary(PyObject* x, PyObject* y) {
  static const int call = elementwise_number(name);
  if constexpr (at_once != nullptr) {
    if (const auto hosts = quick_hosts(x, y)) {
      if constexpr (tiny != Tiny::none)
        if (PyObject* const made = tiny_call(tiny, hosts->x, hosts->y)) return quick_result(made);
      return quick_result(at_once(hosts->x, hosts->y));
    }
  }
  return guarded([&] { return call_or_numpy(call, x, y); });
}
template <const char* name, BinarySlot at_once = nullptr, Tiny tiny = Tiny::none>
PyObject* into(PyObject* x, PyObject* y) {
  static const int call = elementwise_number(name);
  // In place where nobody else sees the memory.
  if constexpr (at_once != nullptr) {
    const auto hosts = quick_hosts(x, y);
    if (hosts && quick_to_write(x) == hosts->x) {
      const bool is_done =
          tiny != Tiny::none && tiny_call(tiny, hosts->x, hosts->y, true) != nullptr;
      PyObject* const result = is_done ? nullptr : at_once(hosts->x, hosts->y);
      if (!is_done && result == nullptr) return nullptr;
      Py_XDECREF(result);
      Py_INCREF(x);
      return x;
    }
  }
  return guarded([&] { return call_elementwise_into(call, x, y); });
}
template <const char* name, PyObject* (*at_once)(PyObject*)>
PyObject* unary(PyObject* x) {
  static const int call = elementwise_number(name);
  if (PyObject* const host = quick_host(x)) return quick_result(at_once(host));
  return guarded([&] { return call_elementwise(call, x, {}); });
}
PyObject* power_at_once(PyObject* x, PyObject* y) { return PyNumber_Power(x, y, Py_None); }
PyObject* power(PyObject* x, PyObject* y, PyObject*) { return binary<kPower, power_at_once>(x, y); }
// Whether it says, as sparse matrices do, that it does products with arrays itself.
bool multiplies_itself(PyObject* x) {
  PyObject* const rule = PyObject_GetAttrString(x, "__array_ufunc__");
  if (rule == nullptr) PyErr_Clear();
  Py_XDECREF(rule);
  return rule == Py_None;
}
// What is no small product is Python's.
template <const char* method>
PyObject* matrix_product(PyObject* x, PyObject* y) {
  if (const auto hosts = quick_hosts(x, y))
    return quick_result(PyNumber_MatrixMultiply(hosts->x, hosts->y));
  return guarded([&]() -> nb::object {
    if (PyObject* const made = library_product(x, y)) return nb::steal(made);
    if (multiplies_itself(x) || multiplies_itself(y)) return nb::borrow(Py_NotImplemented);
    return nb::module_::import_("heddle.numpy._products")
        .attr(method)(nb::handle(x), nb::handle(y));
  });
}
constexpr char kMatmul[] = "matmul";
PyObject* matmul_into(PyObject* x, PyObject* y) {
  return guarded([&] {
    return nb::module_::import_("heddle.numpy._products")
        .attr("matmul_into")(nb::handle(x), nb::handle(y));
  });
}

PyObject* power_into(PyObject* x, PyObject* y, PyObject*) { return into<kPower>(x, y); }

PyObject* compared(PyObject* x, PyObject* y, int how) {
  static const int calls[] = {elementwise_number("less"),    elementwise_number("less_equal"),
                              elementwise_number("equal"),   elementwise_number("not_equal"),
                              elementwise_number("greater"), elementwise_number("greater_equal")};
  static constexpr Tiny tiny[] = {Tiny::less,      Tiny::less_equal, Tiny::equal,
                                  Tiny::not_equal, Tiny::greater,    Tiny::greater_equal};
  if (const auto hosts = quick_hosts(x, y)) {
    if (PyObject* const made = tiny_call(tiny[how], hosts->x, hosts->y)) return quick_result(made);
    if (PyErr_Occurred() != nullptr) return nullptr;
    return quick_result(PyObject_RichCompare(hosts->x, hosts->y, how));
  }
  return guarded([&] { return call_or_numpy(calls[how], x, y, how); });
}

PyObject* subscript(PyObject* self, PyObject* at) {
  try {
    if (PyObject* const part = quick_part(self, at)) return part;
    if (PyErr_Occurred() != nullptr) return nullptr;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
  // By an array, which gives a new one.
  if (PyObject* const places = quick_host(at))
    if (PyObject* const host = quick_host(self); host != nullptr && rank_of_numpy(places) > 0)
      return quick_result(PyObject_GetItem(host, places));
  return guarded([&] { return get_item(self, at); });
}

int assign(PyObject* self, PyObject* at, PyObject* value) {
  try {
    if (value == nullptr) throw nb::value_error("cannot delete array elements");
    if (const int done = quick_assign(self, at, value); done <= 0) return done;
    set_item(self, at, value);
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

Py_ssize_t length(PyObject* self) {
  const RecordedArray& array = *as_recorded(self);
  if (array.view().rank() > 0) return array.shape()[0];
  PyErr_SetString(PyExc_TypeError, "len() of unsized object");
  return -1;
}

template <typename F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

// Who only reads gets what it has now; who writes shares its memory.
int array_buffer(PyObject* self, Py_buffer* view, int flags) {
  try {
    RecordedArray& array = *as_recorded(self);
    const bool writes = (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE;
    if (writes && !array.writable) {
      PyErr_SetString(PyExc_BufferError, "buffer source array is read-only");
      view->obj = nullptr;
      return -1;
    }
    nb::object from = writes ? shared_host(array) : snapshot(array);
    if (!writes && is_writable_numpy(from.ptr())) {
      from = from.attr("view")();
      from.attr("setflags")(nb::arg("write") = false);
    }
    return PyObject_GetBuffer(from.ptr(), view, flags);
  } catch (...) {
    set_python_error();
    view->obj = nullptr;
    return -1;
  }
}

PyType_Slot slots[] = {
    {Py_bf_getbuffer, slot(array_buffer)},
    {Py_nb_add, slot(binary<kAdd, PyNumber_Add, Tiny::add>)},
    {Py_nb_subtract, slot(binary<kSubtract, PyNumber_Subtract, Tiny::subtract>)},
    {Py_nb_multiply, slot(binary<kMultiply, PyNumber_Multiply, Tiny::multiply>)},
    {Py_nb_true_divide, slot(binary<kDivide, PyNumber_TrueDivide, Tiny::divide>)},
    {Py_nb_floor_divide, slot(binary<kFloorDivide>)},
    {Py_nb_remainder, slot(binary<kRemainder, PyNumber_Remainder>)},
    {Py_nb_power, slot(power)},
    {Py_nb_and, slot(binary<kAnd, PyNumber_And>)},
    {Py_nb_or, slot(binary<kOr, PyNumber_Or>)},
    {Py_nb_xor, slot(binary<kXor, PyNumber_Xor>)},
    {Py_nb_lshift, slot(binary<kLeft, PyNumber_Lshift>)},
    {Py_nb_rshift, slot(binary<kRight, PyNumber_Rshift>)},
    {Py_nb_matrix_multiply, slot(matrix_product<kMatmul>)},
    {Py_nb_inplace_matrix_multiply, slot(matmul_into)},
    {Py_nb_negative, slot(unary<kNegative, PyNumber_Negative>)},
    {Py_nb_positive, slot(unary<kPositive, PyNumber_Positive>)},
    {Py_nb_absolute, slot(unary<kAbsolute, PyNumber_Absolute>)},
    {Py_nb_invert, slot(unary<kInvert, PyNumber_Invert>)},
    {Py_nb_inplace_add, slot(into<kAdd, PyNumber_InPlaceAdd, Tiny::add>)},
    {Py_nb_inplace_subtract, slot(into<kSubtract, PyNumber_InPlaceSubtract, Tiny::subtract>)},
    {Py_nb_inplace_multiply, slot(into<kMultiply, PyNumber_InPlaceMultiply, Tiny::multiply>)},
    {Py_nb_inplace_true_divide, slot(into<kDivide, PyNumber_InPlaceTrueDivide, Tiny::divide>)},
    {Py_nb_inplace_floor_divide, slot(into<kFloorDivide>)},
    {Py_nb_inplace_remainder, slot(into<kRemainder, PyNumber_InPlaceRemainder>)},
    {Py_nb_inplace_power, slot(power_into)},
    {Py_nb_inplace_and, slot(into<kAnd, PyNumber_InPlaceAnd>)},
    {Py_nb_inplace_or, slot(into<kOr, PyNumber_InPlaceOr>)},
    {Py_nb_inplace_xor, slot(into<kXor, PyNumber_InPlaceXor>)},
    {Py_nb_inplace_lshift, slot(into<kLeft, PyNumber_InPlaceLshift>)},
    {Py_nb_inplace_rshift, slot(into<kRight, PyNumber_InPlaceRshift>)},
    {Py_tp_richcompare, slot(compared)},
    {Py_tp_hash, slot(PyObject_HashNotImplemented)},
    {Py_mp_subscript, slot(subscript)},
    {Py_mp_ass_subscript, slot(assign)},
    {Py_mp_length, slot(length)},
    {0, nullptr},
};

nb::object transposed(const RecordedArray& self, const std::vector<std::size_t>& order) {
  return to_object(self.with(self.view().transposed(order)));
}

// None where no view does it.
nb::object reshaped(RecordedArray& self, const Shape& shape) {
  auto view = self.view().reshaped(shape);
  if (view) return to_object(self.with(*std::move(view)));
  if (!can_show(self) || self.at_rest()) return nb::none();
  return keep_array(
      [&](Builder& b) { return b.reshape(read_array(self), shape); },
      {direct_function("part"), {{&self}, {nullptr, shape_tuple(shape)}}, self.dtype()});
}

nb::object broadcast_to(const RecordedArray& self, const Shape& shape) {
  auto view = self.view().broadcast(shape);
  if (!view) return nb::none();
  RecordedArray wide = self.with(*std::move(view));
  wide.writable = false;
  return to_object(std::move(wide));
}

// x.shape = ...: no where no view does it.
bool take_shape(RecordedArray& self, const Shape& shape) {
  auto view = self.view().reshaped(shape);
  if (!view) return false;
  self.show(*std::move(view));
  self.host = {};
  return true;
}

// Whole where its elements are no complex numbers.
nb::object part_of(const RecordedArray& self, bool real) {
  HEDDLE_CHECK(is_complex(self.dtype()), "only complex numbers have parts");
  RecordedArray part = self.with(self.view());
  part.part = real ? Part::real : Part::imag;
  return to_object(std::move(part));
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
  if (self.store->is_shared()) return host_of(self).attr("copy")();
  const Array memory = Recording::get().recorder.host(*self.store).value();
  if (self.elements() == 0) return host_of(self);
  const nb::object all =
      to_numpy(memory.reinterpreted(Type::tensor(self.store->type().dtype, {memory.elements()})));
  const Placed placed = placed_in_bytes(self);
  static const nb::handle ndarray =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
  return ndarray(shape_tuple(self.shape()), numpy_dtype(self.dtype()), all, placed.offset,
                 shape_tuple(placed.strides));
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
  using Self = nb::handle_t<RecordedArray>;
  const auto lazily = [](Self self) { return nb::inst_ptr<RecordedArray>(self); };
  nb::class_<RecordedArray>(
      module, "_ndarray", nb::type_slots(slots), nb::is_weak_referenceable(),
      "An array of heddle.numpy: calls on it are recorded, and run when values "
      "are read.")
      .def(
          "__init__",
          [](RecordedArray* self, const nb::args& args, const nb::kwargs& named) {
            // As NumPy makes it, without a thought to what is in it.
            const nb::object type = nb::module_::import_("numpy").attr("ndarray");
            nb::object made = type(*args, **named);
            const nb::object ours = wrapped(std::move(made));
            const RecordedArray* array = as_recorded(ours);
            if (array == nullptr)
              throw nb::type_error("an array of such elements is NumPy's: numpy.ndarray");
            new (self) RecordedArray(array->store, array->view(), array->writable);
          },
          nb::sig("def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None"))
      .def_prop_ro(
          "shape",
          [lazily](Self self) -> nb::object {
            const RecordedArray& array = *lazily(self);
            return array.store ? shape_tuple(array.shape()) : array.host.attr("shape");
          },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dtype",
          [lazily](Self self) -> nb::object {
            const RecordedArray& array = *lazily(self);
            return array.store ? numpy_dtype(array.dtype())
                               : nb::borrow(dtype_of_numpy(array.host.ptr()));
          },
          nb::sig("def dtype(self) -> numpy.dtype[typing.Any]"))
      .def_prop_ro("ndim",
                   [lazily](Self self) -> std::size_t {
                     const RecordedArray& array = *lazily(self);
                     return array.store ? array.view().rank()
                                        : static_cast<std::size_t>(rank_of_numpy(array.host.ptr()));
                   })
      .def_prop_ro("size", [](Self self) { return as_recorded(self)->elements(); })
      .def_prop_ro(
          "strides",
          [](Self self) { return shape_tuple(placed_in_bytes(*as_recorded(self)).strides); })
      .def_prop_rw(
          "_writable", [lazily](Self self) { return lazily(self)->writable; },
          [](Self self, bool may) { as_recorded(self)->writable = may; })
      .def("_shared_host", [](Self self) { return shared_host(*as_recorded(self)); })
      .def("_base",
           [](Self self) -> nb::object {
             const RecordedArray& array = *as_recorded(self);
             const AffineView& view = array.view();
             const bool is_all =
                 array.part == Part::whole && view == AffineView::whole(array.store->type().shape);
             return is_all ? nb::none() : to_object(array.store);
           })
      .def_prop_ro("_pending",
                   [lazily](Self self) {
                     const RecordedArray& array = *lazily(self);
                     return array.store && array.store->is_pending();
                   })
      .def("_pending_or_large",
           [](Self self) {
             if (quick_host(self.ptr()) != nullptr) return false;
             const RecordedArray& array = *as_recorded(self);
             return !array.at_rest() || array.elements() > Recording::get().at_once;
           })
      .def(
          "_host",
          [lazily](Self self, bool for_writing) {
            const RecordedArray& array = *lazily(self);
            if (for_writing && !array.writable)
              throw nb::value_error("assignment destination is read-only");
            return array.store ? host(*as_recorded(self), for_writing) : array.host;
          },
          nb::arg("for_writing") = false)
      .def("_host_is",
           [lazily](Self self, nb::handle array) { return lazily(self)->host.is(array); })
      .def("_snapshot", [](Self self) { return snapshot(*as_recorded(self)); })
      .def("_transposed",
           [](Self self, const std::vector<std::size_t>& order) {
             return transposed(*as_recorded(self), order);
           })
      .def("_reshaped",
           [](Self self, const Shape& shape) { return reshaped(*as_recorded(self), shape); })
      .def("_broadcast_to",
           [](Self self, const Shape& shape) { return broadcast_to(*as_recorded(self), shape); })
      .def("_take_shape",
           [](Self self, const Shape& shape) { return take_shape(*as_recorded(self), shape); })
      .def("_part", [](Self self, bool real) { return part_of(*as_recorded(self), real); })
      .def("_order",
           [](Self self) {
             const AffineView* view = &as_recorded(self)->view();
             return memory_order({&view, 1}, view->rank());
           })
      .def("_read_only",
           [](Self self) {
             const RecordedArray& array = *as_recorded(self);
             return to_object(RecordedArray(array.store, array.view(), false, array.part));
           })
      .def("_store_is_spread", [](Self self) { return as_recorded(self)->store->is_spread(); })
      .def_prop_ro("_writes", [](Self self) { return as_recorded(self)->store->writes(); })
      .def("_can_show", [](Self self) { return can_show(*as_recorded(self)); })
      .def("_shares", [](Self self, Self other) {
        return as_recorded(self)->store == as_recorded(other)->store;
      });
  module.def("_wrap_numpy", wrap, nb::arg("result"), nb::arg("given"));
  module.def("_wrap_shared", wrapped_shared, nb::arg("made"));
  module.def("_adopt", [](nb::handle value) { return adopted(value); });
  add_recorded_quick(module);
  add_recorded_functions(module);
  add_recorded_calls(module);
  add_recorded_library(module);
}

}  // namespace heddle::python
