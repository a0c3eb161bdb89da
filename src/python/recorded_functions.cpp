// Functions and methods of heddle.numpy on small arrays in memory: NumPy's own at once, else
// Python's side.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "python/bindings.h"
#include "python/host_array.h"
#include "python/recorded.h"
#include "python/recorded_special.h"

namespace heddle::python {

namespace {

// An option that NumPy's functions have, and that is no array.
bool is_plain_option(PyObject* name, PyObject* value) {
  static const std::array<const char*, 5> known = {"axis", "keepdims", "ddof", "dtype", "copy"};
  if (Py_TYPE(value) == type_of_ours()) return false;
  for (const char* one : known)
    if (PyUnicode_CompareWithASCIIString(name, one) == 0) return true;
  return false;
}

// Arguments as NumPy takes them; not ready where one of them has to be looked at more closely.
class QuickArguments {
 public:
  // Those before `first` are not looked at.
  bool lower(PyObject* args, PyObject* named, PyObject* self) {
    const Py_ssize_t count = PyTuple_Size(args), more = self != nullptr ? 1 : 0;
    lowered_ = nb::steal(PyTuple_New(count + more));
    if (self != nullptr && !put(0, self)) return false;
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!put(i + more, PyTuple_GetItem(args, i))) return false;
    return !given_.empty() && (named == nullptr || are_plain(named));
  }
  PyObject* args() const { return lowered_.ptr(); }
  const std::vector<PyObject*>& given() const { return given_; }

 private:
  bool put(Py_ssize_t at, PyObject* one) {
    nb::object lowered = nb::borrow(one);
    if (Py_TYPE(one) == type_of_ours()) {
      PyObject* const host = quick_host(one);
      if (host == nullptr) return false;
      lowered = nb::borrow(host);
      given_.push_back(one);
    } else if (PyList_CheckExact(one) || PyTuple_CheckExact(one)) {
      lowered = sequence(one);
      if (!lowered.is_valid()) return false;
    } else if (!is_plain(one)) {
      return false;
    }
    return PyTuple_SetItem(lowered_.ptr(), at, lowered.release().ptr()) == 0;
  }

  // One level deep.
  nb::object sequence(PyObject* of) {
    nb::list parts;
    const Py_ssize_t count = PySequence_Size(of);
    for (Py_ssize_t i = 0; i < count; ++i) {
      const nb::object one = nb::steal(PySequence_GetItem(of, i));
      if (Py_TYPE(one.ptr()) == type_of_ours()) {
        PyObject* const host = quick_host(one.ptr());
        if (host == nullptr) return {};
        given_.push_back(one.ptr());  // which `of` holds
        parts.append(nb::borrow(host));
      } else if (is_plain(one.ptr())) {
        parts.append(one);
      } else {
        return {};
      }
    }
    return PyTuple_CheckExact(of) ? nb::object(nb::tuple(parts)) : nb::object(parts);
  }

  static bool are_plain(PyObject* named) {
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(named, &at, &key, &value) != 0)
      if (!is_plain_option(key, value)) return false;
    return true;
  }

  nb::object lowered_;
  std::vector<PyObject*> given_;
};

// NumPy's result as ours, without a look at the arrays that it was given where its memory is its
// own.
nb::object ours(PyObject* result, std::span<PyObject* const> arrays) {
  const nb::object held = nb::steal(result);
  nb::object made = held;
  if (!made.is_valid()) throw nb::python_error();
  if (Py_TYPE(result) == numpy_array_type()) {
    for (PyObject* one : arrays)
      if (quick_host(one) == result) return nb::borrow(one);
    if (owns_its_memory(result)) return wrapped(std::move(made));
    if (PyObject* const view = quick_view(result, arrays)) return nb::steal(view);
    std::vector<RecordedArray*> given;
    for (PyObject* one : arrays) given.push_back(as_recorded(one));
    nb::object view = wrapped(std::move(made), given);
    if (!is_writable_numpy(result) && as_recorded(view) != nullptr)
      as_recorded(view)->writable = false;
    return view;
  }
  if (!PyTuple_Check(result) && !PyList_Check(result)) return made;
  nb::list given;
  for (PyObject* one : arrays) given.append(nb::borrow(one));
  return nb::module_::import_("heddle.numpy._fallback").attr("raised")(made, given);
}

// NotImplemented where it is not for NumPy at once.
nb::object call_at_once(PyObject* theirs, PyObject* args, PyObject* named,
                        PyObject* self = nullptr) {
  QuickArguments arguments;
  if (!arguments.lower(args, named, self)) return nb::borrow(Py_NotImplemented);
  return ours(PyObject_Call(theirs, arguments.args(), named), arguments.given());
}

// Arguments as Python hands them over, those with names last; null where one of them has to be
// looked at more closely.
PyObject* vector_at_once(PyObject* theirs, Whole whole, PyObject* const* args, Py_ssize_t count,
                         PyObject* names) {
  constexpr Py_ssize_t kMost = 8;
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
  if (count + named > kMost) return nullptr;
  PyObject *lowered[kMost], *arrays[kMost];
  std::size_t given = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const bool is_array = Py_TYPE(args[i]) == type_of_ours();
    lowered[i] = is_array ? quick_host(args[i]) : is_plain(args[i]) ? args[i] : nullptr;
    if (lowered[i] == nullptr) return nullptr;
    if (is_array) arrays[given++] = args[i];
  }
  if (given == 0) return nullptr;
  for (Py_ssize_t i = count; i < count + named; ++i) {
    if (!is_plain_option(PyTuple_GetItem(names, i - count), args[i])) return nullptr;
    lowered[i] = args[i];
  }
  if (whole != Whole::none && count == 1 && named == 0)
    if (PyObject* const number = whole_at_once(whole, lowered[0])) return number;
  PyObject* const made =
      PyObject_Vectorcall(theirs, lowered, static_cast<std::size_t>(count), names);
  return ours(made, {arrays, given}).release().ptr();
}

// A function: NumPy's where all is small and there, else ours. Its attributes keep both: they are
// what Python's collector sees.
struct QuickFunction {
  nb::handle theirs, ours;
  Whole whole = Whole::none;
  QuickKind kind = QuickKind::usual;
};

PyObject* call_quick(PyObject* self, PyObject* args, PyObject* named) {
  try {
    const QuickFunction& function = *nb::inst_ptr<QuickFunction>(nb::handle(self));
    std::optional<AlignedResults> aligned;
    if (function.kind == QuickKind::grows) aligned.emplace();
    const Py_ssize_t count = PyTuple_Size(args);
    constexpr Py_ssize_t kMost = 4;
    if ((named == nullptr || PyDict_Size(named) == 0) && count <= kMost) {
      PyObject* given[kMost];
      for (Py_ssize_t i = 0; i < count; ++i) given[i] = PyTuple_GetItem(args, i);
      if (PyObject* const made =
              vector_at_once(function.theirs.ptr(), function.whole, given, count, nullptr))
        return made;
      if (PyObject* const made = special(function.kind, function.theirs.ptr(), given, count))
        return made;
    }
    nb::object result = call_at_once(function.theirs.ptr(), args, named);
    if (!result.is(Py_NotImplemented)) return result.release().ptr();
    return PyObject_Call(function.ours.ptr(), args, named);
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
PyType_Slot quick_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_quick)}, {0, nullptr}};

// New arrays of few elements, by NumPy's own function: shape, and what follows it.
struct QuickMaker {
  nb::handle theirs, ours;
};

bool is_few(PyObject* shape) {
  const std::int64_t limit = Recording::limit();
  const auto size = [&](PyObject* one) {
    if (!PyLong_CheckExact(one)) return std::int64_t{-1};
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(one, &overflow);
    return overflow != 0 || number > limit ? std::int64_t{-1} : std::int64_t{number};
  };
  if (!PyTuple_CheckExact(shape)) return size(shape) >= 0;
  std::int64_t all = 1;
  for (Py_ssize_t i = 0; i < PyTuple_Size(shape); ++i) {
    const std::int64_t one = size(PyTuple_GetItem(shape, i));
    if (one < 0) return false;
    all *= one;
    if (all > limit) return false;
  }
  return true;
}

PyObject* make_quick(PyObject* self, PyObject* args, PyObject* named) {
  try {
    const QuickMaker& maker = *nb::inst_ptr<QuickMaker>(nb::handle(self));
    const bool plain = named == nullptr || PyDict_Size(named) == 0 ||
                       (PyDict_Size(named) == 1 && PyDict_GetItemString(named, "dtype") != nullptr);
    const bool small = PyTuple_Size(args) > 0 && is_few(PyTuple_GetItem(args, 0));
    const bool ours = PyTuple_Size(args) > 1 && Py_TYPE(PyTuple_GetItem(args, 1)) == type_of_ours();
    if (!plain || !small || ours || Recording::limit() == 0)
      return PyObject_Call(maker.ours.ptr(), args, named);
    nb::object made = nb::steal(PyObject_Call(maker.theirs.ptr(), args, named));
    if (!made.is_valid()) return nullptr;
    return wrapped(std::move(made)).release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
PyType_Slot maker_slots[] = {{Py_tp_call, reinterpret_cast<void*>(make_quick)}, {0, nullptr}};

// A method of ndarray: NumPy's where the array is small and there, else ours, which the type keeps.
struct QuickMethod {
  std::string name;
  PyObject *theirs = nullptr, *ours = nullptr;
  Whole whole = Whole::none;
  QuickKind kind = QuickKind::usual;
  PyMethodDef definition = {};
};
constexpr std::size_t kMostMethods = 48;
std::array<QuickMethod, kMostMethods> methods;  // Python calls each by a function of its own

PyObject* call_method(const QuickMethod& method, PyObject* self, PyObject* const* args,
                      Py_ssize_t count, PyObject* names) {
  try {
    constexpr Py_ssize_t kMost = 6;
    const Py_ssize_t all = count + (names == nullptr ? 0 : PyTuple_Size(names));
    if (all <= kMost) {
      PyObject* with_self[kMost + 1] = {self};
      std::copy(args, args + all, with_self + 1);
      if (PyObject* const made =
              vector_at_once(method.theirs, method.whole, with_self, count + 1, names))
        return made;
      if (names == nullptr)
        if (PyObject* const made = special(method.kind, method.theirs, with_self, count + 1))
          return made;
    }
    nb::object positional = nb::steal(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i)
      PyTuple_SetItem(positional.ptr(), i, nb::borrow(args[i]).release().ptr());
    nb::dict named;
    for (Py_ssize_t i = count; i < all; ++i)
      named[nb::handle(PyTuple_GetItem(names, i - count))] = nb::handle(args[i]);
    PyObject* const more = named.empty() ? nullptr : named.ptr();
    nb::object result = call_at_once(method.theirs, positional.ptr(), more, self);
    if (result.is(Py_NotImplemented))
      result = nb::handle(method.ours)(nb::handle(self), *nb::cast<nb::args>(positional), **named);
    return result.release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

using MethodCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
template <std::size_t... n>
constexpr std::array<MethodCall, sizeof...(n)> calls_of(std::index_sequence<n...>) {
  return {[](PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    return call_method(methods[n], self, args, count, names);
  }...};
}

void add_method(nb::handle type, const std::string& name, nb::handle theirs, nb::handle ours) {
  static constexpr auto calls = calls_of(std::make_index_sequence<kMostMethods>());
  static std::size_t count = 0;
  HEDDLE_CHECK(count < kMostMethods, "there are more methods than functions for them");
  nb::setattr(type, ("_recorded_" + name).c_str(), nb::make_tuple(theirs, ours));
  QuickMethod& method = methods[count];
  method = {name, theirs.ptr(), ours.ptr(), whole_of(name), quick_kind_of(name), {}};
  method.definition = {method.name.c_str(),
                       reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(calls[count])),
                       METH_FASTCALL | METH_KEYWORDS, nullptr};
  ++count;
  const nb::object made =
      nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method.definition));
  nb::setattr(type, name.c_str(), made);
}

}  // namespace

void add_recorded_functions(nb::module_& module) {
  nb::class_<QuickFunction>(module, "_QuickFunction", nb::type_slots(quick_slots),
                            nb::dynamic_attr(), "A function of heddle.numpy.")
      .def(
          "__init__",
          [](QuickFunction* self, nb::handle theirs, nb::handle ours) {
            const auto name = nb::cast<std::string>(theirs.attr("__name__"));
            new (self) QuickFunction{theirs, ours, whole_of(name), quick_kind_of(name)};
          },
          nb::arg("theirs"), nb::arg("ours"));
  nb::class_<QuickMaker>(module, "_QuickMaker", nb::type_slots(maker_slots), nb::dynamic_attr(),
                         "A function of heddle.numpy that makes arrays.")
      .def(
          "__init__",
          [](QuickMaker* self, nb::handle theirs, nb::handle ours) {
            new (self) QuickMaker{theirs, ours};
          },
          nb::arg("theirs"), nb::arg("ours"));
  module.def("_quick_call", [](nb::handle theirs, const nb::tuple& args, const nb::dict& named) {
    return call_at_once(theirs.ptr(), args.ptr(), named.empty() ? nullptr : named.ptr());
  });
  module.def("_add_quick_method", add_method);
}

}  // namespace heddle::python
