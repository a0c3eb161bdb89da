#include "python/recorded_special.h"

#include <utility>

#include "python/bindings.h"

namespace heddle::python {

PyTypeObject* type_of_ours() {
  static PyTypeObject* const type =
      reinterpret_cast<PyTypeObject*>(nb::type<RecordedArray>().ptr());
  return type;
}

namespace {

// What names an element type: a class, as float and numpy.float32, or NumPy's own dtype.
bool is_element_type(PyObject* one) {
  static PyObject* const dtype =
      nb::object(nb::module_::import_("numpy").attr("dtype")).release().ptr();
  return PyType_Check(one) != 0 ||
         PyObject_TypeCheck(one, reinterpret_cast<PyTypeObject*>(dtype)) != 0;
}

}  // namespace

bool is_plain(PyObject* one) {
  return PyLong_CheckExact(one) || PyFloat_CheckExact(one) || one == Py_None || PyBool_Check(one) ||
         PyUnicode_CheckExact(one) || PyComplex_CheckExact(one) || is_element_type(one);
}

QuickKind quick_kind_of(const std::string& name) {
  if (name == "where") return QuickKind::where;
  if (name == "dot" || name == "matmul") return QuickKind::product;
  if (name == "reshape") return QuickKind::reshape;
  for (const char* one : {"transpose", "swapaxes", "flip", "squeeze", "expand_dims", "moveaxis"})
    if (name == one) return QuickKind::view;
  for (const char* one : {"repeat", "tile", "outer", "kron"})
    if (name == one) return QuickKind::grows;
  return QuickKind::usual;
}

namespace {

bool put_size(PyObject* one, Shape& sizes) {
  if (!PyLong_CheckExact(one)) return false;
  sizes.push_back(PyLong_AsSsize_t(one));
  return sizes.back() >= -1 && PyErr_Occurred() == nullptr;
}

// A view of other sizes, of whatever is recorded or there; null where it is none, or NumPy has to
// complain. The sizes are numbers, or one tuple of them.
PyObject* reshaped_view(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  const auto put_all = [&](Shape& sizes) {
    if (count == 1 && PyTuple_CheckExact(args[0])) {
      for (Py_ssize_t i = 0; i < PyTuple_Size(args[0]); ++i)
        if (!put_size(PyTuple_GetItem(args[0], i), sizes)) return false;
      return true;
    }
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!put_size(args[i], sizes)) return false;
    return count > 0;
  };
  Shape sizes;
  if (Py_TYPE(self) != type_of_ours() || !put_all(sizes)) {
    PyErr_Clear();
    return nullptr;
  }
  const RecordedArray& array = *as_recorded(self);
  std::int64_t known = 1, *open = nullptr;
  for (std::int64_t& size : sizes) {
    if (size >= 0) {
      if (__builtin_mul_overflow(known, size, &known)) return nullptr;
    } else if (std::exchange(open, &size) != nullptr) {
      return nullptr;
    }
  }
  const std::int64_t elements = array.elements();
  if (open != nullptr) {
    if (known == 0 || elements % known != 0) return nullptr;
    *open = elements / known;
  } else if (known != elements) {
    return nullptr;
  }
  auto view = array.view().reshaped(sizes);
  return view ? to_object(array.with(*std::move(view))).release().ptr() : nullptr;
}

// By NumPy, on memory of whatever size, where it only shows that memory in another way.
PyObject* shown_otherwise(PyObject* theirs, PyObject* const* args, Py_ssize_t count) {
  constexpr Py_ssize_t kMost = 4;
  PyObject* const host = count > 0 && count <= kMost ? host_at_rest(args[0]) : nullptr;
  if (host == nullptr) return nullptr;
  PyObject* lowered[kMost] = {host};
  for (Py_ssize_t i = 1; i < count; ++i) {
    if (!is_plain(args[i]) && !PyTuple_CheckExact(args[i])) return nullptr;
    lowered[i] = args[i];
  }
  const nb::object made =
      nb::steal(PyObject_Vectorcall(theirs, lowered, static_cast<std::size_t>(count), nullptr));
  if (!made.is_valid()) throw nb::python_error();
  if (Py_TYPE(made.ptr()) != numpy_array_type()) return nullptr;
  return quick_view(made.ptr(), {args, 1});
}

}  // namespace

PyObject* special(QuickKind kind, PyObject* theirs, PyObject* const* args, Py_ssize_t count) {
  switch (kind) {
    case QuickKind::usual:
    case QuickKind::grows:
      return nullptr;
    case QuickKind::where:
      return count == 3 ? plain_where(args[0], args[1], args[2]) : nullptr;
    case QuickKind::product:
      if (count != 2) return nullptr;
      if (PyObject* const made = library_product(args[0], args[1])) return made;
      return plain_product_of(args[0], args[1]);
    case QuickKind::reshape:
      return count > 1 ? reshaped_view(args[0], args + 1, count - 1) : nullptr;
    case QuickKind::view:
      return shown_otherwise(theirs, args, count);
  }
  return nullptr;
}

}  // namespace heddle::python
