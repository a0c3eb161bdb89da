// heddle.Array for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "heddle/compile_options.h"
#include "python/bindings.h"
#include "python/device_array.h"
#include "python/foreign.h"
#include "python/host_array.h"
#include "python/places.h"

namespace heddle::python {

namespace {

Array whole_of(const DeviceArray& self) {
  const nb::gil_scoped_release free;
  return self.whole();
}

nb::object as_numpy(const DeviceArray& self, const nb::object& dtype, const nb::object& copy) {
  nb::object array = to_numpy(whole_of(self));
  const bool converts = !dtype.is_none() && !dtype.equal(array.attr("dtype"));
  if (converts) return array.attr("astype")(dtype);
  if (!copy.is_none() && nb::cast<bool>(copy)) return array.attr("copy")();
  return array;
}

nb::list numpy_parts(const DeviceArray& self) {
  const std::vector<Array> arrays = [&] {
    const nb::gil_scoped_release free;
    return self.host_parts();
  }();
  nb::list parts;
  for (const Array& part : arrays) parts.append(to_numpy(part));
  return parts;
}

nb::dict mesh_of(const DeviceArray& self) {
  nb::dict sizes;
  if (!self.on_mesh()) return sizes;
  for (const MeshAxis& axis : self.placed()->mesh().mesh.axes())
    sizes[axis.name.c_str()] = axis.size;
  return sizes;
}

// As NumPy makes a number of it.
nb::object number(const DeviceArray& self, const char* way) {
  return to_numpy(whole_of(self)).attr(way)();
}

nb::object as_dlpack(const DeviceArray& self, const nb::object& stream, const nb::kwargs& wishes) {
  const bool copies = wishes.contains("copy") && wishes["copy"].equal(nb::bool_(true));
  return to_dlpack(self, stream, copies);
}

// Of a mesh the whole is put together in host memory.
nb::tuple dlpack_device(const DeviceArray& self) {
  DlpackDevice where;
  if (!self.on_mesh())
    if (const DeviceValue value = self.value(); !value.in_host_memory())
      where = value.buffer().device->dlpack_device();
  return nb::make_tuple(where.kind, where.number);
}

nb::object wait_until_ready(nb::object self) {
  const auto& array = nb::cast<const DeviceArray&>(self);
  {
    const nb::gil_scoped_release free;
    array.wait();
  }
  return_borrowed();
  return self;
}

DeviceArray* array_of(nb::handle value, const std::string& device) {
  Device& there = *find_device(device).value();
  Array array = to_array(value);
  const nb::gil_scoped_release free;
  return new DeviceArray(upload(there, std::move(array)));
}

// One device of a mesh, as a stage of a pipeline may have it, is nothing to speak of.
bool is_spread(const DeviceArray& self) {
  return self.on_mesh() && self.placed()->mesh().mesh.devices() > 1;
}

std::string text_of(const DeviceArray& self) {
  std::string place;
  if (is_spread(self))
    place = fmt::format(", layout='{}' on {}", self.layout(), self.placed()->mesh().mesh.str());
  if (self.gone())
    place += ", gone";
  else if (const std::string device = self.device(); device != "cpu")
    place += fmt::format(", device='{}'", device);
  return fmt::format("heddle.Array({}{})", self.type().str(), place);
}

std::string repr_of(const DeviceArray& self) {
  constexpr std::int64_t kShown = 1000;
  if (self.gone() || is_spread(self) || self.type().elements() > kShown) return text_of(self);
  const std::string values = nb::cast<std::string>(nb::repr(to_numpy(whole_of(self))));
  return "heddle.Array" + values.substr(values.find('('));
}

}  // namespace

void add_arrays(nb::module_& module) {
  add_host_arrays(module);
  nb::class_<DeviceArray>(module, "Array",
                          "A value on one device or on those of a mesh, as heddle.jit gives it.\n\n"
                          "It stays there between calls; numpy.asarray and DLPack see its whole.")
      .def_prop_ro(
          "shape", [](const DeviceArray& self) { return shape_tuple(self.type().shape); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The sizes of the whole.")
      .def_prop_ro(
          "dtype", [](const DeviceArray& self) { return numpy_dtype(self.type().dtype); },
          nb::sig("def dtype(self) -> numpy.dtype[typing.Any]"), "NumPy's element type.")
      .def_prop_ro(
          "ndim", [](const DeviceArray& self) { return self.type().rank(); },
          "The number of dimensions.")
      .def_prop_ro(
          "size", [](const DeviceArray& self) { return self.type().elements(); },
          "The number of elements.")
      .def_prop_ro(
          "nbytes", [](const DeviceArray& self) { return self.type().bytes(); },
          "The bytes of the whole.")
      .def_prop_ro("layout", &DeviceArray::layout,
                   "Which mesh axes split each dimension, as in \"dp,_\"; _ is not split.")
      .def_prop_ro("mesh", mesh_of, nb::sig("def mesh(self) -> dict[str, int]"),
                   "The axes of its mesh with their sizes; empty on one device.")
      .def_prop_ro(
          "parts", numpy_parts,
          nb::sig("def parts(self) -> list[numpy.typing.NDArray[typing.Any]]"),
          "What each device has, as NumPy arrays: over the same memory on the CPU, copies of "
          "a GPU's.")
      .def_prop_ro("device", &DeviceArray::device, "Where it lies: \"cpu\", \"cuda:0\".")
      .def("is_deleted", &DeviceArray::gone, "Whether it was donated or deleted.")
      .def(
          "delete", [](DeviceArray& self) { self.drop("was deleted"); }, "Gives its memory back.")
      .def("block_until_ready", wait_until_ready, nb::sig("def block_until_ready(self) -> Array"),
           "Waits for the call that computes it. Those on the CPU have ended when they come back.")
      .def("__array__", as_numpy, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                   "numpy.typing.NDArray[typing.Any]"))
      .def("__dlpack__", as_dlpack, nb::arg("stream") = nb::none(), nb::arg("kwargs"),
           nb::sig("def __dlpack__(self, stream: int | None = None, **kwargs: typing.Any) -> "
                   "typing.Any"))
      .def("__dlpack_device__", dlpack_device,
           nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__len__",
           [](const DeviceArray& self) {
             if (self.type().rank() == 0) throw nb::type_error("a number has no length");
             return self.type().shape[0];
           })
      .def(
          "__getitem__",
          [](const DeviceArray& self, nb::handle at) -> nb::object {
            return to_numpy(whole_of(self))[at];
          },
          nb::arg("at"), nb::sig("def __getitem__(self, at: typing.Any) -> typing.Any"),
          "What NumPy gives for it.")
      .def(
          "__float__", [](const DeviceArray& self) { return number(self, "__float__"); },
          nb::sig("def __float__(self) -> float"))
      .def(
          "__int__", [](const DeviceArray& self) { return number(self, "__int__"); },
          nb::sig("def __int__(self) -> int"))
      .def(
          "__bool__", [](const DeviceArray& self) { return number(self, "__bool__"); },
          nb::sig("def __bool__(self) -> bool"))
      .def(
          "item", [](const DeviceArray& self) { return number(self, "item"); },
          nb::sig("def item(self) -> typing.Any"), "The one number that it holds.")
      .def("__repr__", repr_of);
  module.def("to_device", array_of, nb::arg("value"), nb::arg("device") = "cpu",
             nb::rv_policy::take_ownership,
             nb::sig("def to_device(value: typing.Any, device: str = 'cpu') -> Array"),
             "An array of Heddle's on one device: the same memory on the CPU, a copy on a GPU.");
}

}  // namespace heddle::python
