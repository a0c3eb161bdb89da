// Recorded calls as NumPy does them at once: how windows run whose code is not there yet.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/bindings.h"
#include "python/host_array.h"
#include "python/numpy_fields.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

// The functions of NumPy's C interface that make an array over memory, by their place in its table,
// which has been the same since 1.7.
struct NumpyApi {
  using Make = PyObject* (*)(PyTypeObject*, PyObject*, int, const Py_ssize_t*, const Py_ssize_t*,
                             void*, int, PyObject*);
  using SetBase = int (*)(PyObject*, PyObject*);
  using Number = PyObject* (*)(void*, PyObject*, PyObject*);
  using SetMemory = PyObject* (*)(PyObject*);
  Make make = nullptr;
  SetBase set_base = nullptr;
  Number number = nullptr;
  SetMemory set_memory = nullptr;

  static const NumpyApi& get() {
    static const NumpyApi api = [] {
      const nb::object table =
          nb::module_::import_("numpy._core._multiarray_umath").attr("_ARRAY_API");
      auto** functions = static_cast<void**>(PyCapsule_GetPointer(table.ptr(), nullptr));
      if (functions == nullptr) throw nb::python_error();
      constexpr std::size_t kNumber = 60, kMake = 94, kSetBase = 282, kSetMemory = 304;
      return NumpyApi{reinterpret_cast<Make>(functions[kMake]),
                      reinterpret_cast<SetBase>(functions[kSetBase]),
                      reinterpret_cast<Number>(functions[kNumber]),
                      reinterpret_cast<SetMemory>(functions[kSetMemory])};
    }();
    return api;
  }
};

}  // namespace

PyObject* new_numpy(DType dtype, const NumpyFields& shape) {
  static PyObject* const types[] = {
      numpy_dtype(DType::f64).release().ptr(), numpy_dtype(DType::f32).release().ptr(),
      numpy_dtype(DType::i64).release().ptr(), numpy_dtype(DType::i1).release().ptr()};
  PyObject* const type = dtype == DType::f64   ? types[0]
                         : dtype == DType::f32 ? types[1]
                         : dtype == DType::i64 ? types[2]
                                               : types[3];
  Py_INCREF(type);
  return NumpyApi::get().make(numpy_array_type(), type, shape.rank, shape.sizes, nullptr, nullptr,
                              0, nullptr);
}

PyObject* set_numpy_memory(PyObject* policy) { return NumpyApi::get().set_memory(policy); }

PyObject* numpy_number(void* data, PyObject* dtype) {
  return NumpyApi::get().number(data, dtype, nullptr);
}

nb::object over_memory(std::byte* data, nb::handle dtype, const Shape& shape, const Shape& strides,
                       nb::handle owner) {
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  constexpr int kWritable = 0x0400;
  nb::object type = nb::borrow(dtype);
  nb::object array = nb::steal(NumpyApi::get().make(
      numpy_array_type(), type.release().ptr(), static_cast<int>(shape.size()),
      reinterpret_cast<const Py_ssize_t*>(shape.data()),
      reinterpret_cast<const Py_ssize_t*>(strides.data()), data, kWritable, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  if (NumpyApi::get().set_base(array.ptr(), nb::borrow(owner).release().ptr()) != 0)
    throw nb::python_error();
  return array;
}

namespace {

// What a slot holds: memory of ours, or of an array that NumPy has made, dense in the store's
// shape.
struct Held {
  Array array;
  nb::object numpy;      // over it, or what was made
  bool is_ours = false;  // nobody else sees it
  bool is_made = false;
  std::string lost;  // why there is nothing
};

class NumpyMemory : public DirectMemory {
 public:
  // What is recorded warns of nothing, however it runs.
  NumpyMemory() {
    static const nb::handle errstate =
        nb::object(nb::module_::import_("numpy").attr("errstate")).release();
    quiet_ = errstate(nb::arg("all") = "ignore");
    quiet_.attr("__enter__")();
  }
  ~NumpyMemory() override {
    try {
      quiet_.attr("__exit__")(nb::none(), nb::none(), nb::none());
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("numpy.errstate");
    }
  }
  NumpyMemory(const NumpyMemory&) = delete;
  NumpyMemory& operator=(const NumpyMemory&) = delete;

  void start(Slot slot, Array array) override { at(slot).array = std::move(array); }

  Array take(Slot slot) override {
    Held& held = at(slot);
    if (!held.is_made) return std::move(held.array);
    const nb::object numpy = std::move(held.numpy);
    return array_of_numpy(numpy);
  }

  void drop(Slot slot) override { at(slot) = {}; }

  void lose(Slot slot, const std::string& why) override {
    at(slot) = {};
    at(slot).lost = why;
  }

  // An array over all of it.
  nb::object whole(Slot slot) {
    Held& held = at(slot);
    if (!held.lost.empty()) throw Error(held.lost);
    if (!held.numpy.is_valid()) held.numpy = host_over(held.array);
    return held.numpy;
  }
  nb::object for_writing(Slot slot, const Type& type) {
    Held& held = at(slot);
    if (held.is_ours) return whole(slot);
    held.is_ours = true;
    static const nb::handle empty =
        nb::object(nb::module_::import_("numpy").attr("empty")).release();
    const bool is_new = held.array.elements() == 0;
    // One more holds it where NumPy looks at it.
    const auto& block = held.array.block();
    const bool is_shared = !is_new && block.use_count() > (held.numpy.is_valid() ? 2 : 1);
    if (!is_new && !is_shared) return whole(slot);
    nb::object made = is_new ? empty(shape_tuple(type.shape), numpy_dtype(type.dtype))
                             : whole(slot).attr("copy")();
    put(slot, made);
    return made;
  }
  void put(Slot slot, nb::object made) { at(slot) = {Array(), std::move(made), true, true, {}}; }

 private:
  Held& at(Slot slot) {
    if (slot >= held_.size()) held_.resize(slot + 1);
    return held_[slot];
  }
  std::vector<Held> held_;
  nb::object quiet_;
  AlignedResults aligned_;
};

// A part of what a slot holds.
struct SlotView {
  Slot slot = kNoSlot;
  Placed placed;
  Shape shape;
  DType dtype = DType::f64;
  bool is_whole = false;

  SlotView(Slot of, const RecordedArray& array)
      : slot(of), shape(array.view().shape), dtype(array.dtype()) {
    is_whole = array.part == Part::whole && array.view().offset == 0 &&
               array.view().shape == array.store->type().shape && array.view().is_dense();
    if (!is_whole) placed = placed_in_bytes(array);
  }
  SlotView(const Recorder& recorder, const RecordedCall::Part& part)
      : slot(part.slot), dtype(recorder.slot_type(part.slot).dtype) {
    is_whole = part.view == kNoView || recorder.view(part.view).is_all;
    if (is_whole) return;
    const AffineView& view = recorder.view(part.view).view;
    shape = view.shape;
    placed = {view.offset * byte_size(dtype), view.strides};
    for (std::int64_t& stride : placed.strides) stride *= byte_size(dtype);
  }
  std::int64_t bytes() const { return AffineView::whole(shape).elements() * byte_size(dtype); }
  nb::object in(const nb::object& whole) const {
    if (is_whole) return whole;
    return over_memory(data_of_numpy(whole.ptr()) + placed.offset, numpy_dtype(dtype), shape,
                       placed.strides, whole);
  }
};

class NumpyStep : public DirectStep {
 public:
  NumpyStep(const NumpyCall& call, Recorder& recorder)
      : function_(call.function), named_(call.named) {
    for (const Given& one : call.given) {
      if (one.array == nullptr) {
        operands_.push_back({one.object, {}});
        continue;
      }
      operands_.push_back({{}, SlotView(recorder.slot(*one.array->store), *one.array)});
      bytes_ += operands_.back().view->bytes();
    }
  }
  // Operands are added one by one.
  explicit NumpyStep(nb::object function) : function_(std::move(function)) {}
  void add(nb::object object) { operands_.push_back({std::move(object), {}}); }
  void add(SlotView view) { operands_.push_back({{}, std::move(view)}); }
  void add_target() { operands_.push_back({}); }
  std::int64_t bytes() const override { return bytes_; }

 protected:
  nb::object call(NumpyMemory& memory, const nb::object& target) const {
    nb::object args = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(operands_.size())));
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Operand& one = operands_[i];
      nb::object value = one.view                ? one.view->in(memory.whole(one.view->slot))
                         : one.object.is_valid() ? one.object
                                                 : target;
      if (PyTuple_SetItem(args.ptr(), static_cast<Py_ssize_t>(i), value.release().ptr()) != 0)
        throw nb::python_error();
    }
    nb::object result = nb::steal(PyObject_Call(function_.ptr(), args.ptr(), named_.ptr()));
    if (!result.is_valid()) throw nb::python_error();
    return result;
  }

  std::int64_t bytes_ = 0;

 private:
  struct Operand {
    nb::object object;
    std::optional<SlotView> view;  // neither: the target
  };
  nb::object function_, named_;
  std::vector<Operand> operands_;
};

// A new array, whose dimensions lie in an order of the store's own.
class NumpyKeep : public NumpyStep {
 public:
  NumpyKeep(const NumpyCall& call, Recorder& recorder, std::vector<std::size_t> order)
      : NumpyStep(call, recorder), order_(std::move(order)), dtype_(call.dtype) {
    bytes_ *= 2;
  }
  NumpyKeep(nb::object function, DType dtype) : NumpyStep(std::move(function)), dtype_(dtype) {}
  void run(DirectMemory& memory, Slot target) const override {
    auto& all = static_cast<NumpyMemory&>(memory);
    nb::object result = call(all, {});
    static const nb::handle dense =
        nb::object(nb::module_::import_("heddle.numpy._direct").attr("dense")).release();
    const bool is_fine = Py_TYPE(result.ptr()) == numpy_array_type() && order_.empty() &&
                         owns_its_memory(result.ptr()) && is_dense_numpy(result.ptr()) &&
                         find_dtype(dtype_of_numpy(result.ptr())) == dtype_;
    if (!is_fine) {
      const nb::object order = order_.empty() ? nb::none() : nb::cast(order_);
      result = dense(result, order, numpy_dtype(dtype_));
    }
    all.put(target, std::move(result));
  }

 private:
  std::vector<std::size_t> order_;
  DType dtype_;
};

// Into a part of a store.
class NumpyWrite : public NumpyStep {
 public:
  NumpyWrite(const NumpyCall& call, Recorder& recorder, const RecordedArray& into)
      : NumpyStep(call, recorder), type_(into.store->type()), into_(kNoSlot, into) {
    bytes_ += into_.bytes();
  }
  NumpyWrite(nb::object function, Type type, SlotView into)
      : NumpyStep(std::move(function)), type_(std::move(type)), into_(std::move(into)) {}
  void run(DirectMemory& memory, Slot target) const override {
    auto& all = static_cast<NumpyMemory&>(memory);
    const nb::object whole = all.for_writing(target, type_);
    call(all, into_.in(whole));
  }

 private:
  Type type_;
  SlotView into_;
};

}  // namespace

nb::object direct_function(const char* name) {
  return nb::module_::import_("heddle.numpy._direct").attr(name);
}

nb::object setitem() {
  static const nb::handle function =
      nb::object(nb::module_::import_("operator").attr("setitem")).release();
  return nb::borrow(function);
}

namespace {

nb::object function_of(const RecordedCall& call) {
  switch (call.kind) {
    case RecordedCall::Kind::elementwise:
      return nb::borrow(ufunc_of(call.row));
    case RecordedCall::Kind::assign:
      return setitem();
    case RecordedCall::Kind::reduce:
      return direct_function("reduce");
    case RecordedCall::Kind::product:
      return direct_function("product");
    case RecordedCall::Kind::choose:
      return direct_function("where");
  }
  return {};
}

void add_operands(NumpyStep& step, const Recorder& recorder, const RecordedCall& call) {
  const SlotView first(recorder, call.in[0]);
  switch (call.kind) {
    case RecordedCall::Kind::elementwise:
      step.add(first);
      if (call.inputs == 2) step.add(SlotView(recorder, call.in[1]));
      if (!call.is_new()) step.add_target();
      return;
    case RecordedCall::Kind::assign:
      step.add_target();
      step.add(nb::borrow(Py_Ellipsis));
      step.add(first);
      return;
    case RecordedCall::Kind::reduce: {
      Shape dims;
      for (int d = 0; d < 32; ++d)
        if ((call.dims >> d & 1) != 0) dims.push_back(d);
      step.add(nb::cast(std::string(kReductions[call.row])));
      step.add(first);
      step.add(shape_tuple(dims));
      step.add(nb::cast(call.keeps_dims));
      step.add(numpy_dtype(call.loop));
      return;
    }
    case RecordedCall::Kind::product:
      step.add(nb::cast("matmul"));
      step.add(first);
      step.add(SlotView(recorder, call.in[1]));
      step.add(numpy_dtype(call.loop));
      return;
    case RecordedCall::Kind::choose:
      for (const RecordedCall::Part& part : call.in) step.add(SlotView(recorder, part));
      step.add(numpy_dtype(call.loop));
      return;
  }
}

}  // namespace

DirectStepPtr direct_step(const Recorder& recorder, const RecordedCall& call) {
  if (call.is_new()) {
    auto step = std::make_unique<NumpyKeep>(function_of(call), recorder.type(call.type)->dtype);
    add_operands(*step, recorder, call);
    return step;
  }
  auto step = std::make_unique<NumpyWrite>(function_of(call), recorder.slot_type(call.into.slot),
                                           SlotView(recorder, call.into));
  add_operands(*step, recorder, call);
  return step;
}

std::unique_ptr<DirectMemory> numpy_memory() { return std::make_unique<NumpyMemory>(); }

DirectStepPtr direct_keep(const NumpyCall& call, const std::vector<std::size_t>& order) {
  if (!call.function.is_valid()) return nullptr;
  const bool usual = std::is_sorted(order.begin(), order.end());
  return std::make_unique<NumpyKeep>(call, Recording::get().recorder,
                                     usual ? std::vector<std::size_t>() : order);
}

DirectStepPtr direct_write(const NumpyCall& call, const RecordedArray& into) {
  if (!call.function.is_valid()) return nullptr;
  return std::make_unique<NumpyWrite>(call, Recording::get().recorder, into);
}

}  // namespace heddle::python
