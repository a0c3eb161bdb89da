// Calls on small arrays in memory: NumPy's at once, with as little as possible around them.
#include <algorithm>
#include <array>
#include <vector>

#include "heddle/array_ops.h"
#include "python/bindings.h"
#include "python/host_array.h"
#include "python/numpy_fields.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

std::int64_t elements(PyObject* array) {
  std::int64_t count = 1;
  for (int d = 0; d < fields_of(array).rank; ++d) count *= fields_of(array).sizes[d];
  return count;
}

// Of what both are broadcast to; where they do not fit, NumPy will say so.
std::int64_t elements_of_both(PyObject* x, PyObject* y) {
  const NumpyFields &a = fields_of(x), &b = fields_of(y);
  std::int64_t count = 1;
  for (int d = 1; d <= std::max(a.rank, b.rank); ++d)
    count *= std::max(d <= a.rank ? a.sizes[a.rank - d] : 1, d <= b.rank ? b.sizes[b.rank - d] : 1);
  return count;
}

// Numbers of Python's, and of NumPy's: it knows what type these have.
bool is_number(PyObject* x) {
  if (PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyComplex_CheckExact(x)) return true;
  static PyTypeObject* const generic = reinterpret_cast<PyTypeObject*>(
      nb::object(nb::module_::import_("numpy").attr("generic")).release().ptr());
  return PyObject_TypeCheck(x, generic) != 0;
}

PyTypeObject* array_type() {
  static PyTypeObject* const type =
      reinterpret_cast<PyTypeObject*>(nb::type<RecordedArray>().ptr());
  return type;
}

std::int64_t count_of(PyObject* x) {
  return x != nullptr && Py_TYPE(x) == numpy_array_type() ? elements(x) : 1;
}

// A ufunc of heddle.numpy: the call alone; Python's side knows the rest.
struct UfuncCall {
  int number = 0, inputs = 1;
};

// Whether a call takes little more than its memory does; others, as sin, are worth a window even
// alone.
bool is_cheap(int call) {
  static const auto cheap = [] {
    std::vector<bool> all(elementwise_calls().size());
    for (const char* name :
         {"add",         "subtract",   "multiply",    "divide",      "negative",   "positive",
          "absolute",    "square",     "maximum",     "minimum",     "fmax",       "fmin",
          "less",        "less_equal", "equal",       "not_equal",   "greater",    "greater_equal",
          "logical_and", "logical_or", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor",
          "isnan",       "isfinite"})
      if (const int number = elementwise_number(name); number >= 0)
        all[static_cast<std::size_t>(number)] = true;
    return all;
  }();
  return cheap[static_cast<std::size_t>(call)];
}

PyObject* call_ufunc(PyObject* self, PyObject* args, PyObject* named) {
  try {
    const UfuncCall& ufunc = *nb::inst_ptr<UfuncCall>(self);
    if ((named == nullptr || PyDict_Size(named) == 0) && PyTuple_Size(args) == ufunc.inputs) {
      PyObject* x = PyTuple_GetItem(args, 0);
      PyObject* y = ufunc.inputs == 2 ? PyTuple_GetItem(args, 1) : nullptr;
      const auto hosts = quick_hosts(x, y);
      const bool is_small =
          hosts && (is_cheap(ufunc.number) ||
                    std::max(count_of(hosts->x), count_of(hosts->y)) <= Recording::usual_limit());
      if (is_small && !has_rule_of_its_own(ufunc.number)) {
        if (PyObject* const made = loop_call(ufunc.number, hosts->x, hosts->y))
          return quick_result(made);
        PyObject* const theirs = ufunc_of(ufunc.number).ptr();
        return quick_result(PyObject_CallFunctionObjArgs(theirs, hosts->x, hosts->y, nullptr));
      }
      // Numbers alone are NumPy's own.
      if (is_number(x) && (y == nullptr || is_number(y)) && !has_rule_of_its_own(ufunc.number))
        return PyObject_CallFunctionObjArgs(ufunc_of(ufunc.number).ptr(), x, y, nullptr);
      if (Py_TYPE(x) == array_type() || (y != nullptr && Py_TYPE(y) == array_type())) {
        nb::object result = call_elementwise(ufunc.number, x, y);
        if (!result.is(Py_NotImplemented)) return result.release().ptr();
      }
    }
    static PyObject* const name = PyUnicode_InternFromString("_call");
    const nb::object slow = nb::steal(PyObject_GetAttr(self, name));
    return slow.is_valid() ? PyObject_Call(slow.ptr(), args, named) : nullptr;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
// Which arithmetic one of NumPy's ufuncs is.
Tiny tiny_of(PyObject* ufunc) {
  static const auto known = [] {
    std::array<PyObject*, static_cast<std::size_t>(Tiny::none)> all = {};
    static constexpr const char* names[] = {"add",     "subtract",     "multiply", "divide",
                                            "less",    "less_equal",   "equal",    "not_equal",
                                            "greater", "greater_equal"};
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = ufunc_of(elementwise_number(names[i])).ptr();
    return all;
  }();
  return static_cast<Tiny>(std::ranges::find(known, ufunc) - known.begin());
}

PyObject* ufunc_at_once(PyObject* ufunc, PyObject* x, PyObject* y) {
  static const nb::handle divide = ufunc_of(elementwise_number("floor_divide")),
                          expm1 = ufunc_of(elementwise_number("expm1"));
  const auto hosts = quick_hosts(x, y);
  if (!hosts || divide.is(ufunc) || expm1.is(ufunc)) return nullptr;
  if (const Tiny tiny = tiny_of(ufunc); y != nullptr && tiny != Tiny::none)
    if (PyObject* const made = tiny_call(tiny, hosts->x, hosts->y)) return quick_result(made);
  PyObject* const made = PyObject_CallFunctionObjArgs(ufunc, hosts->x, hosts->y, nullptr);
  if (made == nullptr) throw nb::python_error();
  if (!PyTuple_Check(made)) return quick_result(made);
  Py_DECREF(made);  // more results than one are Python's side's
  return nullptr;
}

// __array_ufunc__: NumPy's own ufunc was called with an array of ours among its operands, as by a
// number of NumPy's times an array.
PyObject* array_ufunc(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  try {
    const bool is_plain = names == nullptr && (count == 3 || count == 4);
    if (is_plain && PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0)
      if (PyObject* const made = ufunc_at_once(args[0], args[2], count == 4 ? args[3] : nullptr))
        return made;
    static const nb::handle slow =
        nb::object(nb::module_::import_("heddle.numpy._ufuncs").attr("array_ufunc")).release();
    const Py_ssize_t all = count + (names == nullptr ? 0 : PyTuple_Size(names));
    std::vector<PyObject*> with_self = {self};
    with_self.insert(with_self.end(), args, args + all);
    return PyObject_Vectorcall(slow.ptr(), with_self.data(), static_cast<std::size_t>(count + 1),
                               names);
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
PyMethodDef array_ufunc_method = {
    "__array_ufunc__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_ufunc)),
    METH_FASTCALL | METH_KEYWORDS, "NumPy's ufuncs on arrays of heddle.numpy."};

bool is_index(PyObject* one) { return PyLong_CheckExact(one) || PySlice_Check(one); }
// Whether an index is made of numbers and slices, one or two of them.
bool is_simple(PyObject* at) {
  if (is_index(at)) return true;
  return PyTuple_CheckExact(at) && PyTuple_Size(at) == 2 && is_index(PyTuple_GetItem(at, 0)) &&
         is_index(PyTuple_GetItem(at, 1));
}
// Whether a simple index has a number for every dimension.
bool is_element(PyObject* at, PyObject* numpy_array) {
  const int rank = rank_of_numpy(numpy_array);
  if (PyLong_CheckExact(at)) return rank == 1;
  return rank == 2 && PyTuple_CheckExact(at) && PyLong_CheckExact(PyTuple_GetItem(at, 0)) &&
         PyLong_CheckExact(PyTuple_GetItem(at, 1));
}

// Where its memory is there.
bool make_host(RecordedArray& array) {
  if (!array.at_rest() || array.store->type().elements() == 0) return false;
  try {
    host_of(array);
  } catch (...) {  // who asks again in the usual way is told why
    return false;
  }
  return true;
}

// Whether its memory may be written to in place; the window's use of it goes on with what it has.
bool may_write_at_once(RecordedArray& array) {
  if (!array.store) return array.writable;
  if (!array.writable || !array.store->is_sole_owner()) return false;
  Recording::get().recorder.forget(*array.store);
  return true;
}

PyType_Slot ufunc_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_ufunc)}, {0, nullptr}};

}  // namespace

PyObject* host_at_rest(PyObject* x) {
  if (Py_TYPE(x) != array_type() || Recording::limit() == 0) return nullptr;
  RecordedArray& array = *nb::inst_ptr<RecordedArray>(nb::handle(x));
  if (array.store && !has_host(array) && !make_host(array)) return nullptr;
  return array.host.ptr();
}

PyObject* quick_host(PyObject* x) {
  if (Py_TYPE(x) != array_type()) return nullptr;
  RecordedArray* array = nb::inst_ptr<RecordedArray>(nb::handle(x));
  if (array->store && !has_host(*array)) {
    if (!array->at_rest() || array->elements() > Recording::limit() || !make_host(*array))
      return nullptr;
  }
  PyObject* const host = array->host.ptr();
  return elements(host) <= Recording::limit() ? host : nullptr;
}

namespace {
// The last result of more elements than are NumPy's at once as a rule; only compared.
PyObject* last_large = nullptr;

// Whether arrays of ours have such elements: dates and objects stay NumPy's.
bool is_of_ours(PyObject* dtype) {
  static PyObject* last = nullptr;  // one that is; types of NumPy's own live for ever
  if (dtype == last) return true;
  if (!find_dtype(dtype)) return false;
  if (numpy_dtype(*find_dtype(dtype)).is(dtype)) last = dtype;
  return true;
}

// A call on what the last one gave: calls follow each other, and are worth a window again.
void notice_chain(const QuickHosts& hosts) {
  if (last_large == nullptr || (hosts.x != last_large && hosts.y != last_large)) return;
  last_large = nullptr;
  Recording::get().recorder.forget_lonely_windows();
}
}  // namespace

std::optional<QuickHosts> quick_hosts(PyObject* x, PyObject* y) {
  QuickHosts hosts{quick_host(x), nullptr};
  if (last_large != nullptr) notice_chain({hosts.x, y != nullptr ? quick_host(y) : nullptr});
  if (y == nullptr) return hosts.x ? std::optional(hosts) : std::nullopt;
  if (hosts.x == nullptr && Py_TYPE(x) == array_type()) return {};
  hosts.y = quick_host(y);
  if (hosts.x && hosts.y)
    return elements_of_both(hosts.x, hosts.y) <= Recording::limit() ? std::optional(hosts)
                                                                    : std::nullopt;
  if (hosts.x && is_number(y)) return QuickHosts{hosts.x, y};
  if (hosts.y && is_number(x)) return QuickHosts{x, hosts.y};
  return {};
}

PyObject* quick_result(PyObject* result) {
  if (result == nullptr || Py_TYPE(result) != numpy_array_type()) return result;
  if (!is_of_ours(fields_of(result).dtype)) return result;
  last_large = elements(result) > Recording::usual_limit() ? result : nullptr;
  return make_object(nb::steal(result)).release().ptr();
}

PyObject* quick_to_write(PyObject* self) {
  PyObject* const host = quick_host(self);
  if (host == nullptr || !may_write_at_once(*nb::inst_ptr<RecordedArray>(nb::handle(self))))
    return nullptr;
  return host;
}

// Such a product is bound by the matrix, and no kernel of ours reads that faster than NumPy's
// library.
PyObject* library_product(PyObject* x, PyObject* y) {
  if (Recording::limit() == 0 || Recording::get().recorder.devices()) return nullptr;
  PyObject* hosts[2] = {x, y};
  for (PyObject*& one : hosts) {
    one = host_at_rest(one);
    if (one == nullptr) return nullptr;
  }
  const NumpyFields &a = fields_of(hosts[0]), &b = fields_of(hosts[1]);
  if (a.dtype != b.dtype || (a.rank != 1 && b.rank != 1)) return nullptr;
  if (Recording::get().recorder.runs_there(std::max(elements(hosts[0]), elements(hosts[1]))))
    return nullptr;
  const auto dtype = find_dtype(a.dtype);
  if (!dtype || !(is_complex(*dtype) || *dtype == DType::f32 || *dtype == DType::f64))
    return nullptr;
  PyObject* const made = PyNumber_MatrixMultiply(hosts[0], hosts[1]);
  if (made == nullptr) throw nb::python_error();
  return quick_result(made);
}

PyObject* quick_view(PyObject* shown, std::span<PyObject* const> arrays) {
  const NumpyFields& fields = fields_of(shown);
  if (elements(shown) == 0) return nullptr;
  for (PyObject* const one : arrays) {
    RecordedArray& array = *as_recorded(one);
    if (array.part != Part::whole || !has_host(array) || !array.at_rest()) continue;
    if (fields_of(array.host.ptr()).dtype != fields.dtype) continue;
    const auto bytes = array.store->memory().array().bytes();
    const std::int64_t behind = fields.data - reinterpret_cast<const char*>(bytes.data());
    const std::int64_t item = byte_size(array.store->type().dtype);
    if (behind < 0 || behind >= static_cast<std::int64_t>(bytes.size()) || behind % item != 0)
      continue;
    bool is_even = true;
    for (int d = 0; d < fields.rank; ++d) is_even = is_even && fields.strides[d] % item == 0;
    if (!is_even) continue;
    nb::object made = make_object(array, nb::borrow(shown), behind);
    if (!is_writable_numpy(shown)) nb::inst_ptr<RecordedArray>(made)->writable = false;
    return made.release().ptr();
  }
  return nullptr;
}

PyObject* quick_part(PyObject* self, PyObject* at) {
  if (!is_simple(at) || Recording::limit() == 0) return nullptr;
  RecordedArray& array = *nb::inst_ptr<RecordedArray>(nb::handle(self));
  // An element needs no store.
  if (!array.store && !is_element(at, array.host.ptr())) settle(array);
  if (array.store && !has_host(array) && !make_host(array)) return nullptr;
  PyObject* const part = PyObject_GetItem(array.host.ptr(), at);
  if (part == nullptr || Py_TYPE(part) != numpy_array_type()) return part;
  nb::object made = nb::steal(part);
  if (array.part != Part::whole) return nullptr;
  if (elements(part) == 0)  // nothing that anybody could share
    return make_object(std::move(made)).release().ptr();
  const char* const all =
      reinterpret_cast<const char*>(array.store->memory().array().bytes().data());
  return make_object(array, std::move(made), fields_of(part).data - all).release().ptr();
}

int quick_assign(PyObject* self, PyObject* at, PyObject* value) {
  PyObject* const places = quick_host(at);
  if (places == nullptr && !is_simple(at)) return 1;
  PyObject* from = PyFloat_Check(value) || PyLong_CheckExact(value) ? value : quick_host(value);
  if (from == nullptr) return 1;
  if (PyObject* const host = quick_to_write(self))
    return PyObject_SetItem(host, places != nullptr ? places : at, from);
  if (places != nullptr || Recording::limit() == 0) return 1;
  // A small part of a large array.
  RecordedArray& array = *nb::inst_ptr<RecordedArray>(nb::handle(self));
  if (!array.store) settle(array);
  if (!has_host(array) && !make_host(array)) return 1;
  if (!may_write_at_once(array)) return 1;
  const nb::object part = nb::steal(PyObject_GetItem(array.host.ptr(), at));
  if (!part.is_valid()) return -1;
  if (Py_TYPE(part.ptr()) == numpy_array_type() && elements(part.ptr()) > Recording::limit())
    return 1;
  return PyObject_SetItem(array.host.ptr(), at, from);
}

AffineView RecordedArray::view_of_host() const {
  const NumpyFields& shown = fields_of(host.ptr());
  const std::int64_t item = byte_size(store->type().dtype);
  AffineView view;
  view.offset = behind_ / item;
  view.shape.assign(shown.sizes, shown.sizes + shown.rank);
  view.strides.assign(shown.strides, shown.strides + shown.rank);
  for (std::int64_t& stride : view.strides) stride /= item;
  return view;
}

bool owns_its_memory(PyObject* numpy_array) { return fields_of(numpy_array).base == nullptr; }
nb::handle dtype_of_numpy(PyObject* numpy_array) { return fields_of(numpy_array).dtype; }
std::byte* data_of_numpy(PyObject* numpy_array) {
  return reinterpret_cast<std::byte*>(fields_of(numpy_array).data);
}
bool is_dense_numpy(PyObject* numpy_array) {
  constexpr int kByRows = 0x0001;
  return (fields_of(numpy_array).flags & kByRows) != 0;
}
bool is_writable_numpy(PyObject* numpy_array) {
  constexpr int kWritable = 0x0400;
  return (fields_of(numpy_array).flags & kWritable) != 0;
}
int rank_of_numpy(PyObject* numpy_array) { return fields_of(numpy_array).rank; }

void add_recorded_quick(nb::module_& module) {
  nb::class_<UfuncCall>(module, "_Ufunc", nb::type_slots(ufunc_slots), "A recorded ufunc.")
      .def(
          "__init__",
          [](UfuncCall* self, int number) {
            new (self)
                UfuncCall{number, elementwise_calls()[static_cast<std::size_t>(number)].inputs};
          },
          nb::arg("number"));
  nb::setattr(nb::type<RecordedArray>(), array_ufunc_method.ml_name,
              nb::steal(PyDescr_NewMethod(array_type(), &array_ufunc_method)));
}

}  // namespace heddle::python
