// heddle.Array for Python.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "python/device_array.h"
#include "python/host_array.h"

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
  nb::list parts;
  for (const Array& part : self.parts()) parts.append(to_numpy(part));
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

// Codes of DLPack's element types.
nb::dlpack::dtype dlpack_dtype(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  constexpr auto kBfloat = static_cast<std::uint8_t>(Code::Bfloat);
  const auto width = static_cast<std::uint8_t>(8 * byte_size(dtype));
  if (dtype == DType::i1) return {static_cast<std::uint8_t>(Code::Bool), 8, 1};
  if (dtype == DType::bf16) return {kBfloat, width, 1};
  if (is_complex(dtype)) return {static_cast<std::uint8_t>(Code::Complex), width, 1};
  const bool usual = bits(dtype) >= 8 && (!is_float(dtype) || bits(dtype) >= 16);
  if (!usual)
    throw Error(fmt::format("DLPack has no element type for {}: use numpy.asarray", name(dtype)));
  if (is_float(dtype)) return {static_cast<std::uint8_t>(Code::Float), width, 1};
  const bool is_signed = name(dtype)[0] == 'i';
  return {static_cast<std::uint8_t>(is_signed ? Code::Int : Code::UInt), width, 1};
}

// The memory itself, unless a copy is wished for: whoever takes it must not write to it.
nb::object as_dlpack(const DeviceArray& self, const nb::kwargs& wishes) {
  Array whole = whole_of(self);
  const bool copies = wishes.contains("copy") && wishes["copy"].equal(nb::bool_(true));
  if (copies && whole.block()) whole = Array(whole.type(), Block::copy_of(whole.bytes()));
  std::vector<std::size_t> shape(whole.shape().begin(), whole.shape().end());
  auto* data = const_cast<std::byte*>(whole.bytes().data());
  const nb::dlpack::dtype dtype = dlpack_dtype(whole.dtype());
  const nb::object owner =
      nb::cast(new DeviceArray(std::move(whole)), nb::rv_policy::take_ownership);
  return nb::cast(nb::ndarray<>(data, shape.size(), shape.data(), owner, nullptr, dtype));
}

// One device of a mesh, as a stage of a pipeline may have it, is nothing to speak of.
bool is_spread(const DeviceArray& self) {
  return self.on_mesh() && self.placed()->mesh().mesh.devices() > 1;
}

std::string text_of(const DeviceArray& self) {
  std::string place;
  if (is_spread(self))
    place = fmt::format(", layout='{}' on {}", self.layout(), self.placed()->mesh().mesh.str());
  if (self.gone()) place += ", gone";
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
      .def_prop_ro("parts", numpy_parts,
                   nb::sig("def parts(self) -> list[numpy.typing.NDArray[typing.Any]]"),
                   "What each device has, as NumPy arrays over the same memory.")
      .def("is_deleted", &DeviceArray::gone, "Whether it was donated or deleted.")
      .def(
          "delete", [](DeviceArray& self) { self.drop("was deleted"); }, "Gives its memory back.")
      .def(
          "block_until_ready", [](nb::object self) { return self; },
          nb::sig("def block_until_ready(self) -> Array"), "Calls have ended when they come back.")
      .def("__array__", as_numpy, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                   "numpy.typing.NDArray[typing.Any]"))
      .def("__dlpack__", as_dlpack,
           nb::sig("def __dlpack__(self, **kwargs: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__", [](const DeviceArray&) { return nb::make_tuple(1, 0); },
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
  module.def(
      "to_device", [](nb::handle value) { return new DeviceArray(to_array(value)); },
      nb::arg("value"), nb::rv_policy::take_ownership,
      nb::sig("def to_device(value: typing.Any) -> Array"),
      "The same memory as an array of Heddle's on one device.");
}

}  // namespace heddle::python
