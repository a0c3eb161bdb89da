// Calls that are recorded as plain numbers: elementwise ones, assignments and reductions of arrays
// that lie in the usual order. All others are written as ops at once.
#include <algorithm>
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
    return recorder.view(plain.view).can_show;
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
  std::vector<std::size_t> order;  // of the result's dimensions in memory; empty: the usual one

  // The same with all dimensions in the order of a new result's in memory, which is the operands'.
  // No where that is none of all of them.
  bool turn(Recorder& recorder) {
    std::vector<const AffineView*> views;
    bool usual = true;
    for (const Plain& one : in)
      if (one.array != nullptr) {
        views.push_back(&recorder.view(one.view).view);
        usual = usual && recorder.view(one.view).in_usual_order;
      }
    if (usual) return true;
    const std::size_t rank = views[0]->rank();
    if (views.back()->rank() != rank) return false;
    order = memory_order(views, rank);
    if (std::is_sorted(order.begin(), order.end())) {
      order.clear();
      return true;
    }
    for (Plain& one : in)
      if (one.array != nullptr)
        one.view = recorder.number_of(recorder.view(one.view).view.transposed(order),
                                      one.array->store->type().shape);
    return find_shape(recorder);
  }

  bool is_there(int call, PyObject* x, PyObject* y, Recorder& recorder) {
    inputs = y == nullptr ? 1 : 2;
    if (elementwise_calls()[static_cast<std::size_t>(call)].inputs != inputs) return false;
    if (has_rule_of_its_own(call) || !look_at(x, recorder, in[0])) return false;
    if (y != nullptr && !look_at(y, recorder, in[1])) return false;
    if (in[0].array == nullptr && in[1].array == nullptr) return false;
    if (!find_shape(recorder)) return false;
    loop = &loop_of(call, in[0].code, in[1].code);
    if (!loop->is_recorded) return false;
    for (int i = 0; i < inputs; ++i) {
      if (in[i].number == nullptr) continue;
      number = number_in(in[i].number, loop->in[i]);
      if (number == nullptr) return false;
    }
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
  if (!plain.is_there(call, x, y, recorder) || plain.is_small(recorder, all.at_once) ||
      !plain.turn(recorder))
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
  if (!plain.order.empty()) {
    std::vector<std::size_t> back(plain.order.size());
    for (std::size_t i = 0; i < back.size(); ++i) back[plain.order[i]] = i;
    RecordedArray& turned = *nb::inst_ptr<RecordedArray>(array);
    turned.show(turned.view().transposed(back));
  }
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
  // What has one dimension at most lies in one way only.
  const bool is_short = !keep && of.shape().size() <= dims.size() + 1;
  const NumberedView& shown = recorder.view(view);
  if (of.part != Part::whole || !(is_short ? shown.can_show : is_usual(shown)) ||
      of.shape().size() > kMostDims)
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

PyObject* plain_product(const RecordedArray& x, const RecordedArray& y, DType dtype) {
  Recorder& recorder = Recording::get().recorder;
  const Shape &a = x.shape(), &b = y.shape();
  const auto is_plain = [](const RecordedArray& one) {
    return one.part == Part::whole && !one.store->is_shared() && !one.shape().empty() &&
           one.shape().size() <= 2;
  };
  if (!is_plain(x) || !is_plain(y) || a.back() != b.front()) return nullptr;
  RecordedCall made;
  made.kind = RecordedCall::Kind::product;
  made.inputs = 2;
  made.loop = made.out = dtype;
  const ViewNumber views[] = {x.number(recorder), y.number(recorder)};
  for (const ViewNumber view : views)
    if (!recorder.view(view).can_show) return nullptr;
  Shape shape;
  if (a.size() == 2) shape.push_back(a[0]);
  if (b.size() == 2) shape.push_back(b[1]);
  made.type = recorder.type_number(Type::tensor(dtype, std::move(shape)));
  made.in[0] = {recorder.slot(*x.store), views[0]};
  made.in[1] = {recorder.slot(*y.store), views[1]};
  return to_object(kept(recorder, made)).release().ptr();
}

PyObject* plain_product_of(PyObject* x, PyObject* y) {
  const RecordedArray *a = as_recorded(x), *b = as_recorded(y);
  if (a == nullptr || b == nullptr || a->dtype() != b->dtype() || a->dtype() == DType::i1)
    return nullptr;
  const std::int64_t limit = Recording::get().at_once;
  const auto is_worth = [&](const RecordedArray& one) {
    return !one.at_rest() || one.elements() > limit;
  };
  if (!is_worth(*a) && !is_worth(*b)) return nullptr;
  return plain_product(*a, *b, a->dtype());
}

PyObject* plain_where(PyObject* condition, PyObject* x, PyObject* y) {
  Recording& all = Recording::get();
  Recorder& recorder = all.recorder;
  const RecordedArray* typed = as_recorded(x) != nullptr ? as_recorded(x) : as_recorded(y);
  if (as_recorded(condition) == nullptr || typed == nullptr) return nullptr;
  RecordedCall made;
  made.kind = RecordedCall::Kind::choose;
  made.inputs = 3;
  made.loop = made.out = typed->dtype();
  const bool is_real = made.loop == DType::f64 || made.loop == DType::f32;
  Plain in[3];
  const Array* number = nullptr;
  ViewNumber shape = kNoView;
  bool worth = false;
  PyObject* const given[] = {condition, x, y};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!look_at(given[i], recorder, in[i])) return nullptr;
    if (in[i].array == nullptr) {
      if (!is_real || !PyFloat_CheckExact(given[i])) return nullptr;
      number = number_in(given[i], made.loop);
      if (number == nullptr) return nullptr;
      continue;
    }
    const NumberedView& shown = recorder.view(in[i].view);
    if (in[i].array->dtype() != (i == 0 ? DType::i1 : made.loop) || !shown.in_usual_order)
      return nullptr;
    if (shape == kNoView) shape = in[i].view;
    if (recorder.view(shape).view.shape != shown.view.shape) return nullptr;
    worth = worth || !in[i].array->at_rest() || shown.elements > all.at_once;
  }
  if (!worth) return nullptr;
  for (std::size_t i = 0; i < 3; ++i)
    made.in[i] = {
        in[i].array != nullptr ? recorder.slot(*in[i].array->store) : recorder.number_slot(*number),
        in[i].view};
  made.type = recorder.type_number(made.out, shape);
  return to_object(kept(recorder, made)).release().ptr();
}

}  // namespace heddle::python
