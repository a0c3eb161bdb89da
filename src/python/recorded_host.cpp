// Memory of recorded arrays for NumPy, and NumPy's results as recorded arrays.
#include <algorithm>

#include "python/bindings.h"
#include "python/host_array.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

// Memory of a store, for Python's buffer protocol.
struct LentMemory {
  std::shared_ptr<Block> block;
  std::size_t bytes = 0;
};

int give_buffer(PyObject* self, Py_buffer* view, int flags) {
  const LentMemory* lent = nb::inst_ptr<LentMemory>(self);
  void* data = lent->block ? lent->block->data() : nullptr;
  return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(lent->bytes), 0, flags);
}
PyType_Slot lent_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(give_buffer)}, {0, nullptr}};

nb::handle numpy_ndarray() {
  static const nb::handle type =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
  return type;
}

// A NumPy array's memory, and what keeps it alive.
struct OfNumpy {
  std::shared_ptr<Block> block;
  Py_buffer view = {};
  ~OfNumpy() {
    if (view.obj == nullptr || !Py_IsInitialized()) return;
    const nb::gil_scoped_acquire gil;
    PyBuffer_Release(&view);
  }
};

// What lies dense there, its dimensions in whatever order.
struct Dense {
  std::shared_ptr<OfNumpy> owner;
  Shape shape;                     // as it lies
  std::vector<std::size_t> order;  // the array's dimension of each of these; empty: the same
};
// From the widest steps to the narrowest; empty where that is not dense.
std::vector<std::size_t> order_in_memory(const Py_buffer& view) {
  std::vector<std::size_t> order(static_cast<std::size_t>(view.ndim));
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t d) { return view.strides[d]; });
  Py_ssize_t step = view.itemsize;
  for (std::size_t i = order.size(); i-- > 0;) {
    if (view.shape[order[i]] != 1 && view.strides[order[i]] != step) return {};
    step *= view.shape[order[i]];
  }
  return order;
}

std::optional<Dense> dense_memory(nb::handle array) {
  Dense dense;
  dense.owner = std::make_shared<OfNumpy>();
  Py_buffer& view = dense.owner->view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES | PyBUF_WRITABLE) != 0) {
    PyErr_Clear();
    view.obj = nullptr;
    return {};
  }
  dense.shape.assign(view.shape, view.shape + view.ndim);
  if (PyBuffer_IsContiguous(&view, 'C') == 0) {
    dense.order = order_in_memory(view);
    if (dense.order.empty()) return {};
    for (std::size_t i = 0; i < dense.order.size(); ++i)
      dense.shape[i] = view.shape[dense.order[i]];
  }
  dense.owner->block =
      Block::view(static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len));
  return dense;
}

std::vector<std::size_t> inverse_of(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  return back;
}

// Memory that is nobody else's.
RecordedArray taken(nb::object result, DType dtype) {
  auto dense = dense_memory(result);
  if (!dense) {
    result = result.attr("copy")();
    dense = dense_memory(result);
    HEDDLE_CHECK(dense, "a copy is not dense");
  }
  const std::shared_ptr<Block> block(dense->owner, dense->owner->block.get());
  const Type type = Type::tensor(dtype, dense->shape);
  const bool empty = type.elements() == 0;
  auto store = Recording::get().recorder.store(empty ? Array(type) : Array(type, block));
  RecordedArray array(std::move(store));
  if (!dense->order.empty()) array.show(array.view().transposed(inverse_of(dense->order)));
  if (!empty) array.host = std::move(result);
  return array;
}

// The view of a store that a NumPy array over its memory is.
std::optional<AffineView> view_in(const RecordedArray& of, const Py_buffer& shown) {
  if (!of.at_rest() || of.store->type().elements() == 0 || of.part != Part::whole) return {};
  const auto bytes = of.store->memory().array().bytes();
  const auto* at = static_cast<const std::byte*>(shown.buf);
  if (at < bytes.data() || at >= bytes.data() + bytes.size()) return {};
  const std::int64_t item = byte_size(of.dtype());
  if (shown.itemsize != item || (at - bytes.data()) % item != 0) return {};
  AffineView view;
  view.offset = (at - bytes.data()) / item;
  for (int d = 0; d < shown.ndim; ++d) {
    if (shown.strides[d] % item != 0) return {};
    view.shape.push_back(shown.shape[d]);
    view.strides.push_back(shown.strides[d] / item);
  }
  return view;
}

nb::object as_view(nb::handle result, DType dtype, std::span<RecordedArray* const> given) {
  OfNumpy shown;
  if (PyObject_GetBuffer(result.ptr(), &shown.view, PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    shown.view.obj = nullptr;
    return {};
  }
  for (RecordedArray* of : given) {
    if (of->dtype() != dtype) continue;
    if (auto view = view_in(*of, shown.view)) {
      RecordedArray array(of->store, *std::move(view),
                          of->writable && is_writable_numpy(result.ptr()));
      // It is over that memory already; whether it may be written to is the array's matter.
      if (is_writable_numpy(result.ptr()) && has_host(*of)) {
        array.host = nb::borrow(result);
        array.generation = of->store->generation();
      }
      return to_object(std::move(array));
    }
  }
  return {};
}

}  // namespace

nb::object host_over(const Array& array) {
  const std::size_t bytes = static_cast<std::size_t>(array.type().bytes());
  const nb::object lent = nb::cast(LentMemory{array.block(), bytes});
  return numpy_ndarray()(shape_tuple(array.shape()), numpy_dtype(array.dtype()), lent);
}

Array array_of_numpy(const nb::object& made) {
  const DType dtype = dtype_of(dtype_of_numpy(made.ptr()));
  const auto dense = dense_memory(made);
  HEDDLE_CHECK(dense && dense->order.empty(), "an array was made that is not dense");
  const Type type = Type::tensor(dtype, dense->shape);
  if (type.elements() == 0) return Array(type);
  return Array(type, std::shared_ptr<Block>(dense->owner, dense->owner->block.get()));
}

RecordedArray* as_recorded(nb::handle object) {
  static PyTypeObject* const type =
      reinterpret_cast<PyTypeObject*>(nb::type<RecordedArray>().ptr());
  if (Py_TYPE(object.ptr()) != type) return nullptr;
  RecordedArray* array = nb::inst_ptr<RecordedArray>(object);
  if (!array->store) settle(*array);
  return array;
}

void settle(RecordedArray& array) {
  nb::object made = std::move(array.host);
  const DType dtype = dtype_of(dtype_of_numpy(made.ptr()));
  const bool may_write = array.writable;
  array = taken(std::move(made), dtype);
  array.writable = may_write;
}

PyTypeObject* numpy_array_type() { return reinterpret_cast<PyTypeObject*>(numpy_ndarray().ptr()); }

nb::object to_object(RecordedArray array) { return make_object(std::move(array)); }

Placed placed_in_bytes(const RecordedArray& array) {
  const std::int64_t item = byte_size(array.store->type().dtype);
  Placed placed{array.view().offset * item, array.view().strides};
  if (array.part == Part::imag) placed.offset += item / 2;
  for (std::int64_t& stride : placed.strides) stride *= item;
  return placed;
}

nb::object host_of(RecordedArray& array) {
  if (has_host(array)) return array.host;
  if (const auto there = Recording::get().recorder.host(*array.store); !there)
    throw_unread(there.reason(), Type::tensor(array.dtype(), array.shape()));
  const nb::object lent = nb::cast(
      LentMemory{array.store->lend(), static_cast<std::size_t>(array.store->type().bytes())});
  const Placed placed = placed_in_bytes(array);
  if (array.elements() == 0)
    array.host = nb::module_::import_("numpy").attr("empty")(shape_tuple(array.shape()),
                                                             numpy_dtype(array.dtype()));
  else
    array.host = over_memory(array.store->memory().array().block()->data() + placed.offset,
                             numpy_dtype(array.dtype()), array.shape(), placed.strides, lent);
  array.generation = array.store->generation();
  return array.host;
}

void make_writable(RecordedArray& array) {
  Recording::get().recorder.make_writable(*array.store).value();
}

void throw_unread(const std::string& why, const Type& type) {
  if (!is_about_memory(why)) throw Error(why);
  const nb::object kind = nb::module_::import_("numpy._core._exceptions").attr("_ArrayMemoryError");
  const nb::object error = kind(shape_tuple(type.shape), numpy_dtype(type.dtype));
  PyErr_SetObject(kind.ptr(), error.ptr());
  throw nb::python_error();
}

nb::object shared_host(RecordedArray& array) {
  Recorder& recorder = Recording::get().recorder;
  if (!array.store->is_shared()) recorder.share(*array.store).value();
  return host_of(array);
}

// The elements between the first and the last that it shows are the store.
nb::object wrapped_shared(nb::object made) {
  const auto dtype = find_dtype(dtype_of_numpy(made.ptr()));
  // No window has it, so that it goes with the array, by Python's own thread.
  struct Shared {
    nb::object array;
    std::shared_ptr<Block> block;
  };
  const auto owner = std::make_shared<Shared>(Shared{made, nullptr});
  OfNumpy buffer;
  const Py_buffer& shown = buffer.view;
  if (!dtype || PyObject_GetBuffer(made.ptr(), &buffer.view, PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    buffer.view.obj = nullptr;
    return made;
  }
  const std::int64_t item = byte_size(*dtype);
  std::int64_t low = 0, high = 0;
  AffineView view;
  for (int d = 0; d < shown.ndim; ++d) {
    const std::int64_t size = shown.shape[d], stride = shown.strides[d];
    if (size == 0 || stride % item != 0) return made;
    (stride < 0 ? low : high) += stride * (size - 1);
    view.shape.push_back(size);
    view.strides.push_back(stride / item);
  }
  if (shown.itemsize != item) return made;
  view.offset = -low / item;
  owner->block = Block::view(static_cast<const std::byte*>(shown.buf) + low,
                             static_cast<std::size_t>(high - low + item));
  const std::shared_ptr<Block> block(owner, owner->block.get());
  const Type type = Type::tensor(*dtype, {(high - low) / item + 1});
  RecordedArray array(Recording::get().recorder.shared_store(Array(type, block)), std::move(view),
                      is_writable_numpy(made.ptr()));
  return to_object(std::move(array));
}

nb::object wrapped(nb::object result, std::span<RecordedArray* const> given) {
  if (!result.type().is(numpy_ndarray())) return result;
  const auto dtype = find_dtype(dtype_of_numpy(result.ptr()));
  if (!dtype) return result;
  if (owns_its_memory(result.ptr())) return to_object(RecordedArray(std::move(result)));
  if (nb::object view = as_view(result, *dtype, given); view.is_valid()) return view;
  // A view that is none of ours, as one of another type, is a copy, into which nobody may think to
  // write what the array then has.
  const nb::object shares = nb::module_::import_("numpy").attr("may_share_memory");
  bool is_ours = false;
  for (RecordedArray* const array : given)
    is_ours = is_ours || nb::cast<bool>(shares(result, host_of(*array)));
  RecordedArray copy = taken(result.attr("copy")("K"), *dtype);
  copy.writable = !is_ours;
  return to_object(std::move(copy));
}

nb::object adopted(nb::handle value) {
  if (as_recorded(value) != nullptr) return nb::borrow(value);
  const AlignedResults aligned;
  const nb::object copy = nb::module_::import_("numpy").attr("array")(value);
  return wrapped(copy);
}

// What others may keep: a later write does not reach it.
nb::object snapshot(RecordedArray& self) {
  if (self.store->is_shared()) return host_of(self).attr("copy")();
  const Array memory = Recording::get().recorder.host(*self.store).value();
  if (self.elements() == 0) return host_of(self);
  const nb::object all =
      to_numpy(memory.reinterpreted(Type::tensor(self.store->type().dtype, {memory.elements()})));
  const Placed placed = placed_in_bytes(self);
  return numpy_ndarray()(shape_tuple(self.shape()), numpy_dtype(self.dtype()), all, placed.offset,
                         shape_tuple(placed.strides));
}

void add_lent_memory(nb::module_& module) {
  nb::class_<LentMemory>(module, "_LentMemory", nb::type_slots(lent_slots),
                         "The memory of a recorded array.");
}

}  // namespace heddle::python
