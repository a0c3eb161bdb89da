// Operators, comparisons, indices and buffers of heddle.numpy.ndarray, as Python calls them.
#include "heddle/array_ops.h"
#include "python/bindings.h"
#include "python/recorded.h"

namespace heddle::python {

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
// For some exponents NumPy has something better than its loop.
PyObject* power_at_once(PyObject* x, PyObject* y) { return PyNumber_Power(x, y, Py_None); }
bool is_for_loops(BinarySlot at_once, PyObject* y) {
  return at_once != power_at_once || Py_TYPE(y) == numpy_array_type();
}
template <const char* name, BinarySlot at_once = nullptr, Tiny tiny = Tiny::none>
PyObject* binary(PyObject* x, PyObject* y) {
  static const int call = elementwise_number(name);
  if constexpr (at_once != nullptr) {
    if (const auto hosts = quick_hosts(x, y)) {
      if constexpr (tiny != Tiny::none)
        if (PyObject* const made = tiny_call(tiny, hosts->x, hosts->y)) return quick_result(made);
      if (is_for_loops(at_once, hosts->y))
        if (PyObject* const made = loop_call(call, hosts->x, hosts->y)) return quick_result(made);
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
  if (PyObject* const host = quick_host(x)) {
    PyObject* const made = loop_call(call, host, nullptr);
    return quick_result(made != nullptr ? made : at_once(host));
  }
  return guarded([&] { return call_elementwise(call, x, {}); });
}
PyObject* power(PyObject* x, PyObject* y, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;  // Python says so
  return binary<kPower, power_at_once>(x, y);
}
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
    if (PyObject* const made = plain_product_of(x, y)) return nb::steal(made);
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
    if (PyObject* const made = loop_call(calls[how], hosts->x, hosts->y)) return quick_result(made);
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

}  // namespace

PyType_Slot* array_slots() { return slots; }

}  // namespace heddle::python
