// Calls that are recorded as plain numbers: elementwise ones, assignments and reductions of arrays
// that lie in the usual order. All others are written as ops at once.
#include <array>
#include <bit>

#include "heddle/array_ops.h"
#include "heddle/hash.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

PyTypeObject* type_of_arrays() {
  static PyTypeObject* const type =
      reinterpret_cast<PyTypeObject*>(nb::type<RecordedArray>().ptr());
  return type;
}

// An operand: an array, or a number of Python's own.
struct Plain {
  RecordedArray* array = nullptr;
  ViewNumber view = kNoView;
  PyObject* number = nullptr;
  int code = 0;
};

bool is_usual(const NumberedView& view) { return view.can_show && view.in_usual_order; }

bool look_at(PyObject* x, Recorder& recorder, Plain& plain) {
  if (Py_TYPE(x) == type_of_arrays()) {
    plain.array = as_recorded(x);
    if (plain.array->part != Part::whole || plain.array->store->is_shared()) return false;
    // What is over memory that it has no more would only keep that.
    if (plain.array->host.is_valid() && !has_host(*plain.array)) plain.array->drop_host();
    plain.view = plain.array->number(recorder);
    plain.code = static_cast<int>(plain.array->store->type().dtype);
    return is_usual(recorder.view(plain.view));
  }
  plain.number = x;
  constexpr int kWeak = 100;
  if (PyFloat_CheckExact(x))
    plain.code = kWeak + static_cast<int>(Weak::real);
  else if (PyLong_CheckExact(x))
    plain.code = kWeak + static_cast<int>(Weak::integer);
  else if (PyFloat_Check(x))  // numpy.float64
    plain.code = static_cast<int>(DType::f64);
  return plain.code != 0;
}

// The same few numbers come again and again. Null where NumPy has to look at it.
const Array* number_in(PyObject* x, DType dtype) {
  struct Made {
    std::uint64_t bits = 0;
    int code = -1;
    Array array;
  };
  static auto* const made = new std::array<Made, 64>;
  const bool is_real = PyFloat_Check(x);
  int overflow = 0;
  const std::uint64_t bits =
      is_real ? std::bit_cast<std::uint64_t>(PyFloat_AsDouble(x))
              : static_cast<std::uint64_t>(PyLong_AsLongLongAndOverflow(x, &overflow));
  if (overflow != 0) return nullptr;
  const int code = static_cast<int>(dtype) * 2 + (is_real ? 1 : 0);
  Made& entry = (*made)[hash_combine(bits, static_cast<std::uint64_t>(code)) % made->size()];
  if (entry.code == code && entry.bits == bits) return &entry.array;
  Operand operand;
  operand.weak = is_real ? Weak::real : Weak::integer;
  operand.object = nb::borrow(x);
  auto array = number_as(operand, dtype);
  if (!array) return nullptr;
  entry = {bits, code, *std::move(array)};
  return &entry.array;
}

// The operands of an elementwise call; the numbers among them are those of a call's loop.
struct PlainCall {
  Plain in[2];
  int inputs = 1;
  const Loop* loop = nullptr;
  const Array* number = nullptr;  // at most one of them is one
  ViewNumber shape = kNoView;     // a view of the result's shape; none: the two are broadcast
  Shape broadcast;

  bool is_there(int call, PyObject* x, PyObject* y, Recorder& recorder) {
    inputs = y == nullptr ? 1 : 2;
    if (elementwise_calls()[static_cast<std::size_t>(call)].inputs != inputs) return false;
    if (has_rule_of_its_own(call) || !look_at(x, recorder, in[0])) return false;
    if (y != nullptr && !look_at(y, recorder, in[1])) return false;
    if (in[0].array == nullptr && in[1].array == nullptr) return false;
    if (!find_shape(recorder)) return false;
    loop = &loop_of(call, in[0].code, in[1].code);
    if (!loop->is_recorded) return false;
    for (int i = 0; i < inputs; ++i)
      if (in[i].number != nullptr && (number = number_in(in[i].number, loop->in[i])) == nullptr)
        return false;
    return true;
  }

  bool find_shape(Recorder& recorder) {
    const Plain &a = in[0], &b = in[1];
    shape = a.array != nullptr ? a.view : b.view;
    if (a.array == nullptr || b.array == nullptr || a.view == b.view) return true;
    const Shape &first = recorder.view(a.view).view.shape,
                &other = recorder.view(b.view).view.shape;
    if (first == other) return true;
    auto both = broadcast_shapes(first, other);
    if (!both) return false;
    shape = *both == first ? a.view : *both == other ? b.view : kNoView;
    broadcast = *std::move(both);
    return true;
  }

  std::int64_t elements(Recorder& recorder) const {
    return shape != kNoView ? recorder.view(shape).elements
                            : AffineView::whole(broadcast).elements();
  }

  // Whether NumPy does it at once.
  bool is_small(Recorder& recorder, std::int64_t limit) const {
    if (elements(recorder) > limit) return false;
    for (const Plain& one : in)
      if (one.array != nullptr &&
          (!one.array->at_rest() || recorder.view(one.view).elements > limit))
        return false;
    return true;
  }

  RecordedCall written(int call, Recorder& recorder) {
    RecordedCall made;
    made.row = static_cast<std::uint16_t>(call);
    made.inputs = static_cast<std::uint8_t>(inputs);
    made.loop = loop->in[0];
    made.out = loop->out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(inputs); ++i)
      made.in[i] = {in[i].array != nullptr ? recorder.slot(*in[i].array->store)
                                           : recorder.number_slot(*number),
                    in[i].view};
    return made;
  }
};

}  // namespace

namespace {

// The window may end here, and fail.
StorePtr kept(Recorder& recorder, const RecordedCall& call) {
  const TypePtr type = recorder.type(call.type);
  try {
    return recorder.keep(call);
  } catch (const Error& error) {
    throw_unread(error.what(), *type);
  }
}

}  // namespace

PyObject* plain_elementwise(int call, PyObject* x, PyObject* y) {
  Recording& all = Recording::get();
  Recorder& recorder = all.recorder;
  PlainCall plain;
  if (!plain.is_there(call, x, y, recorder) || plain.is_small(recorder, all.at_once))
    return nullptr;
  RecordedCall made = plain.written(call, recorder);
  made.type = plain.shape != kNoView
                  ? recorder.type_number(plain.loop->out, plain.shape)
                  : recorder.type_number(Type::tensor(plain.loop->out, plain.broadcast));
  const std::uint64_t epoch = recorder.epoch();
  const bool is_all = plain.shape != kNoView && recorder.view(plain.shape).is_all;
  nb::object array = make_object(kept(recorder, made));
  if (is_all)  // all of a store of the same shape
    nb::inst_ptr<RecordedArray>(array)->set_number(plain.shape, epoch);
  return array.release().ptr();
}

bool plain_elementwise_into(int call, PyObject* into, PyObject* other) {
  Recording& all = Recording::get();
  Recorder& recorder = all.recorder;
  PlainCall plain;
  if (!plain.is_there(call, into, other, recorder) || plain.is_small(recorder, all.at_once))
    return false;
  const RecordedArray& to = *plain.in[0].array;
  if (!to.writable || !recorder.view(plain.in[0].view).can_write) return false;
  if (plain.shape == kNoView || recorder.view(plain.shape).view.shape != to.shape()) return false;
  if (!may_become(plain.loop->out, to.dtype())) return false;
  RecordedCall made = plain.written(call, recorder);
  made.into.view = plain.in[0].view;
  recorder.write(to.store, made);
  plain.in[0].array->drop_host();  // so that nobody but the window holds the old memory
  return true;
}

bool plain_assign(const RecordedArray& self, const AffineView& into, const Operand& value,
                  const std::optional<Array>& number) {
  Recorder& recorder = Recording::get().recorder;
  if (self.part != Part::whole) return false;
  RecordedCall made;
  made.kind = RecordedCall::Kind::assign;
  made.loop = made.out = self.dtype();
  made.into.view = recorder.number_of(into, self.store->type().shape);
  if (value.array != nullptr) {
    if (value.array->part != Part::whole) return false;
    made.in[0].view = value.array->number(recorder);
    made.in[0].slot = recorder.slot(*value.array->store);
  } else {
    made.in[0].slot = recorder.number_slot(*number);
  }
  recorder.write(self.store, made);
  return true;
}

PyObject* plain_reduce(std::string_view name, const RecordedArray& of,
                       std::span<const std::int64_t> dims, bool keep, DType dtype) {
  Recorder& recorder = Recording::get().recorder;
  if (of.store->is_shared()) return nullptr;
  const ViewNumber view = of.number(recorder);
  constexpr std::size_t kMostDims = 32;
  if (of.part != Part::whole || !is_usual(recorder.view(view)) || of.shape().size() > kMostDims)
    return nullptr;
  RecordedCall made;
  made.kind = RecordedCall::Kind::reduce;
  while (made.row < kReductions.size() && kReductions[made.row] != name) ++made.row;
  if (made.row == kReductions.size()) return nullptr;
  made.loop = made.out = dtype;
  made.keeps_dims = keep;
  for (std::int64_t d : dims) made.dims |= std::uint32_t{1} << d;
  Shape shape;
  for (std::size_t d = 0; d < of.shape().size(); ++d) {
    const bool is_reduced = (made.dims >> d & 1) != 0;
    if (!is_reduced || keep) shape.push_back(is_reduced ? 1 : of.shape()[d]);
  }
  made.type = recorder.type_number(Type::tensor(dtype, std::move(shape)));
  made.in[0] = {recorder.slot(*of.store), view};
  return to_object(kept(recorder, made)).release().ptr();
}

}  // namespace heddle::python
