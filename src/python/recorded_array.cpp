// heddle.numpy.ndarray for Python: what its methods need. Operators and indices are in
// recorded_operators.cpp; methods where time does not matter are added in python/heddle/numpy.
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

nb::object transposed(const RecordedArray& self, const std::vector<std::size_t>& order) {
  return to_object(self.with(self.view().transposed(order)));
}

// With its dimensions the other way round; by NumPy where it is there.
nb::object turned(PyObject* self) {
  static PyObject* const name = PyUnicode_InternFromString("T");
  if (PyObject* const host = host_at_rest(self)) {
    const nb::object shown = nb::steal(PyObject_GetAttr(host, name));
    if (shown.is_valid())
      if (PyObject* const view = quick_view(shown.ptr(), {&self, 1})) return nb::steal(view);
    PyErr_Clear();
  }
  const RecordedArray& array = *as_recorded(self);
  std::vector<std::size_t> order(array.view().rank());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;
  return transposed(array, order);
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
  nb::object array = host_of(self);
  if (self.writable && self.store->is_sole_owner()) return array;
  nb::object shown = array.attr("view")();
  shown.attr("setflags")(nb::arg("write") = false);
  return shown;
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
      module, "_ndarray", nb::type_slots(array_slots()), nb::is_weak_referenceable(), nb::pooled(),
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
      .def_prop_ro("T", [](Self self) { return turned(self.ptr()); })
      .def_prop_ro("size", [](Self self) { return as_recorded(self)->elements(); })
      .def_prop_ro(
          "strides",
          [](Self self) { return shape_tuple(placed_in_bytes(*as_recorded(self)).strides); })
      .def_prop_rw(
          "_writable", [lazily](Self self) { return lazily(self)->writable; },
          [](Self self, bool may) { as_recorded(self)->writable = may; })
      .def_prop_rw(
          "_locked", [lazily](Self self) { return lazily(self)->locked; },
          [](Self self, bool is) { as_recorded(self)->locked = is; })
      .def_prop_ro("_is_shared",
                   [lazily](Self self) {
                     const RecordedArray& array = *lazily(self);
                     return array.store && array.store->is_shared();
                   })
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
  module.def("_adopt", [](nb::handle value) { return adopted(value); }, nb::arg("value").none());
  add_aligned_results(module);
  add_recorded_quick(module);
  add_recorded_functions(module);
  add_recorded_calls(module);
  add_recorded_library(module);
}

}  // namespace heddle::python
