#include "python/host_array.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <unordered_map>

namespace heddle::python {

namespace {

// The bytes of an array, for Python's buffer protocol.
struct Bytes {
  Array array;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const auto bytes = nb::inst_ptr<Bytes>(self)->array.bytes();
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(bytes.data()),
                           static_cast<Py_ssize_t>(bytes.size()), 1, flags);
}

PyType_Slot bytes_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

// What Python knows of element types, asked for once. It lives as long as the process: what is left
// of it when Python ends is Python's to clean up.
class Dtypes {
 public:
  // Asking lets other threads run, so that two may begin; the GIL makes one of them the first. The
  // usual static would have one wait for the other, with the GIL in hand.
  static const Dtypes& get() {
    static const Dtypes* known = nullptr;
    if (known == nullptr) {
      auto made = std::unique_ptr<const Dtypes>(new Dtypes);
      if (known == nullptr) known = made.release();  // on purpose never deleted
    }
    return *known;
  }

  nb::handle numpy(DType dtype) const { return by_number_[static_cast<std::size_t>(dtype)]; }

  // A dtype is nearly always one and the same object; others are compared.
  std::optional<DType> find(nb::handle dtype) const {
    if (const auto known = by_object_.find(dtype.ptr()); known != by_object_.end())
      return known->second;
    for (const auto& [object, number] : by_object_)
      if (PyObject_RichCompareBool(object, dtype.ptr(), Py_EQ) == 1) return number;
    PyErr_Clear();
    return std::nullopt;
  }

  nb::handle ndarray_type() const { return ndarray_; }
  nb::handle as_host() const { return as_host_; }

 private:
  Dtypes() {
    const nb::module_ python = nb::module_::import_("heddle._host");
    const nb::dict table = nb::cast<nb::dict>(python.attr("dtypes")());
    for (const DType dtype : all_dtypes()) {
      const std::string called(name(dtype));
      nb::object object = nb::none();
      if (table.contains(called.c_str())) object = table[called.c_str()];
      if (!object.is_none()) by_object_.emplace(object.ptr(), dtype);
      by_number_.push_back(object.release());
    }
    ndarray_ = nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
    as_host_ = nb::object(python.attr("as_host")).release();
  }

  std::vector<nb::handle> by_number_;
  std::unordered_map<PyObject*, DType> by_object_;
  nb::handle ndarray_, as_host_;
};

// Somebody else's memory, and what keeps it alive.
struct Borrowed {
  std::shared_ptr<Block> block;
  Py_buffer view = {};

  ~Borrowed() {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire gil;
    PyBuffer_Release(&view);
  }
};

// Dense bytes of a NumPy array; null where it does not lie so.
std::shared_ptr<Block> borrow(nb::handle array, std::int64_t bytes) {
  auto borrowed = std::make_shared<Borrowed>();
  if (PyObject_GetBuffer(array.ptr(), &borrowed->view, PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  if (borrowed->view.len != bytes) return nullptr;
  borrowed->block = Block::view(static_cast<const std::byte*>(borrowed->view.buf),
                                static_cast<std::size_t>(bytes));
  Block* block = borrowed->block.get();
  return {std::move(borrowed), block};
}

bool has_shape(nb::handle array, const Shape& shape) {
  const nb::tuple sizes = nb::cast<nb::tuple>(array.attr("shape"));
  if (sizes.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (nb::cast<std::int64_t>(sizes[i]) != shape[i]) return false;
  return true;
}

// A NumPy array that has the type already.
std::optional<Array> as_it_lies(nb::handle array, const Type& type) {
  const auto dtype = Dtypes::get().find(array.attr("dtype"));
  if (!dtype || *dtype != type.dtype || !has_shape(array, type.shape)) return std::nullopt;
  if (type.elements() == 0) return Array(type);
  if (auto block = borrow(array, type.bytes())) return Array(type, std::move(block));
  return std::nullopt;
}

}  // namespace

nb::object numpy_dtype(DType dtype) {
  const nb::handle found = Dtypes::get().numpy(dtype);
  if (found.is_none())
    throw Error(
        fmt::format("NumPy has no element type for {}: install a newer ml_dtypes", name(dtype)));
  return nb::borrow(found);
}

std::optional<DType> find_dtype(nb::handle numpy_dtype) { return Dtypes::get().find(numpy_dtype); }

DType dtype_of(nb::handle numpy_dtype) {
  if (const auto found = Dtypes::get().find(numpy_dtype)) return *found;
  throw Error(fmt::format(
      "arrays of {} cannot be computed with: convert them to truth values, integers, floats or "
      "complex numbers first",
      nb::cast<std::string>(nb::str(numpy_dtype))));
}

Array to_array(nb::handle value, const Type& type) {
  const Dtypes& known = Dtypes::get();
  if (value.type().is(known.ndarray_type()))
    if (auto array = as_it_lies(value, type)) return *std::move(array);
  // Dense, in the right type, with a buffer that Python can give out.
  const nb::object host = known.as_host()(value, numpy_dtype(type.dtype), shape_tuple(type.shape));
  if (type.elements() == 0) return Array(type);
  auto block = borrow(host, type.bytes());
  if (!block)
    throw Error(fmt::format("{} was expected, and {} came in", type.str(),
                            nb::cast<std::string>(nb::repr(nb::handle(value.type())))));
  return {type, std::move(block)};
}

Array to_array(nb::handle value) {
  const nb::object described = nb::module_::import_("heddle._host").attr("described")(value);
  Shape shape = nb::cast<Shape>(described[1]);
  return to_array(described[0], Type::tensor(dtype_of(described[2]), std::move(shape)));
}

nb::tuple shape_tuple(const Shape& shape) {
  nb::tuple sizes = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SetItem(sizes.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
  return sizes;
}

nb::object to_numpy(const Array& array) {
  const nb::object dtype = numpy_dtype(array.dtype());
  return Dtypes::get().ndarray_type()(shape_tuple(array.shape()), dtype, nb::cast(Bytes{array}));
}

void add_host_arrays(nb::module_& module) {
  nb::class_<Bytes>(module, "Bytes", nb::type_slots(bytes_slots),
                    "The memory of an array, read-only.");
}

}  // namespace heddle::python
