// Calls as plain numbers: recorded without ops, found again by comparing the numbers, and written
// as ops where a window of them is new.
#include <algorithm>

#include "heddle/array_ops.h"
#include "heddle/hash.h"
#include "heddle/recorder.h"
#include "record/view_ops.h"

namespace heddle {

namespace {

std::uint64_t hash_of(const AffineView& view, const Shape& store) {
  std::uint64_t hash = static_cast<std::uint64_t>(view.offset);
  const auto add = [&](const Shape& numbers) {
    for (std::int64_t one : numbers) hash = hash_combine(hash, static_cast<std::uint64_t>(one));
    hash = hash_combine(hash, numbers.size());
  };
  add(view.shape);
  add(view.strides);
  add(store);
  return hash;
}

bool is_in_usual_order(const AffineView& view) {
  std::int64_t least = INT64_MAX;
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const std::int64_t step = std::abs(view.strides[d]);
    if (view.shape[d] == 1 || step == 0) continue;
    if (step > least) return false;
    least = step;
  }
  return true;
}

std::uint64_t word(std::uint64_t high, std::uint64_t low) { return high << 32 | low; }

// What does not differ between turns of a loop: not which slots.
std::uint64_t hash_of_kind(const RecordedCall& call) {
  const std::uint64_t kind =
      static_cast<std::uint64_t>(call.kind) | static_cast<std::uint64_t>(call.loop) << 8 |
      static_cast<std::uint64_t>(call.out) << 16 | static_cast<std::uint64_t>(call.row) << 24 |
      static_cast<std::uint64_t>(call.keeps_dims) << 40;
  return hash_combine(kind ^ word(call.dims, call.type) << 1,
                      word(call.in[0].view, call.in[1].view) ^ word(call.into.view, call.in[2].view)
                                                                   << 16);
}

// Without ones at the front that it does not need.
Shape without_leading_ones(const Shape& shape, std::size_t rank) {
  const auto extra = static_cast<std::ptrdiff_t>(shape.size() > rank ? shape.size() - rank : 0);
  return {shape.begin() + extra, shape.end()};
}

}  // namespace

ViewNumber Recorder::number_of(const AffineView& view, const Shape& store) {
  const std::uint64_t hash = hash_of(view, store);
  for (auto [at, end] = view_numbers_.equal_range(hash); at != end; ++at)
    if (views_[at->second].view == view && views_[at->second].store == store) return at->second;
  NumberedView made{view, store};
  made.elements = view.elements();
  if (made.elements > 0) {
    const auto& box = record::box_of(view, store);
    made.can_show = box.has_value();
    made.can_write = box && !record::repeats(view);
    made.covers = made.can_write && box->is_whole();
  }
  made.is_all = view.offset == 0 && view.shape == store && view.is_dense();
  made.in_usual_order = is_in_usual_order(view);
  views_.push_back(std::move(made));
  const auto number = static_cast<ViewNumber>(views_.size() - 1);
  view_numbers_.emplace(hash, number);
  return number;
}

std::uint32_t Recorder::type_number(const Type& type) {
  const std::uint64_t hash = type.hash();
  for (auto [at, end] = type_numbers_.equal_range(hash); at != end; ++at)
    if (*types_[at->second] == type) return at->second;
  if (types_.empty()) types_.push_back(nullptr);  // 0 is none
  types_.push_back(std::make_shared<const Type>(type));
  const auto number = static_cast<std::uint32_t>(types_.size() - 1);
  type_numbers_.emplace(hash, number);
  return number;
}

std::uint32_t Recorder::type_number(DType dtype, ViewNumber shape) {
  NumberedView& view = views_[shape];
  const auto at = static_cast<std::size_t>(dtype);
  if (view.types.size() <= at) view.types.resize(at + 1);
  if (view.types[at] == 0) view.types[at] = type_number(Type::tensor(dtype, view.view.shape));
  return view.types[at];
}

Slot Recorder::number_slot(Array value) {
  const auto dtype = static_cast<std::size_t>(value.dtype());
  if (number_types_.size() <= dtype) number_types_.resize(dtype + 1);
  if (!number_types_[dtype]) number_types_[dtype] = std::make_shared<const Type>(value.type());
  const Slot slot = new_slot(arguments_.size(), *number_types_[dtype]);
  arguments_.push_back({DeviceValue(std::move(value)), nullptr});
  return slot;
}

// Where the window goes the way of the last known one, its lines are those of that one.
void Recorder::add_plain(const RecordedCall& call) {
  const std::size_t n = tape_.size();
  const bool is_expected =
      expected_ && n == calls_.size() && n < expected_->calls.size() && expected_->calls[n] == call;
  call_places_.push_back(is_expected ? expected_->places[n] : place_of_call());
  calls_.push_back(hash_of_kind(call));
  steps_.push_back({nullptr, call.into.slot, n});
  tape_.push_back(call);
}

StorePtr Recorder::keep(RecordedCall call) {
  if (recording_)
    throw Error("an operation on recorded arrays that writes its ops cannot call another one");
  auto store = std::make_shared<Store>(types_[call.type]);
  store->window_ = window_;
  store->slot_ = call.into.slot = new_slot(SIZE_MAX, *store->type_);
  touched_.push_back(store);
  bytes_ += store->type_->bytes();
  add_plain(call);
  after_call();
  if (!store->lost_.empty()) throw Error(store->lost_);
  return store;
}

void Recorder::write(const StorePtr& store, RecordedCall call) {
  if (recording_)
    throw Error("an operation on recorded arrays that writes its ops cannot call another one");
  begin_write(store, views_[call.into.view].covers);
  call.into.slot = store->slot_;
  slots_[call.into.slot].last = steps_.size();
  add_plain(call);
  after_call();
}

Var Recorder::read_part(const RecordedCall::Part& part) {
  if (part.view == kNoView) return {builder_, value_of(part.slot)};
  return read_slot(part.slot, views_[part.view].view);
}

Var Recorder::write_call(const RecordedCall& call) {
  const Shape& shape = call.is_new() ? types_[call.type]->shape : views_[call.into.view].view.shape;
  Builder& b = builder_;
  if (call.kind == RecordedCall::Kind::reduce) {
    Builder::Dims dims;
    for (int d = 0; d < 32; ++d)
      if ((call.dims >> d & 1) != 0) dims.push_back(d);
    return reduce_call(b, kReductions[call.row], cast(b, read_part(call.in[0]), call.loop), dims,
                       call.keeps_dims);
  }
  if (call.kind == RecordedCall::Kind::product)
    return matmul_call(b, cast(b, read_part(call.in[0]), call.loop),
                       cast(b, read_part(call.in[1]), call.loop));
  const bool chooses = call.kind == RecordedCall::Kind::choose;
  std::array<Var, 3> in;
  for (std::size_t i = 0; i < call.inputs; ++i) {
    Var x = cast(b, read_part(call.in[i]), chooses && i == 0 ? DType::i1 : call.loop);
    if (x.type().rank() > shape.size())
      x = b.reshape(x, without_leading_ones(x.type().shape, shape.size()));
    in[i] = spread(b, x, shape);
  }
  if (call.kind == RecordedCall::Kind::assign) return in[0];
  if (chooses) return b.select(in[0], in[1], in[2]);
  const Var result = elementwise_calls()[call.row].write(b, {in.data(), call.inputs});
  return cast(b, cast(b, result, call.out), slots_[call.into.slot].type->dtype);
}

void Recorder::write_tape() {
  for (; written_ < tape_.size(); ++written_) {
    const RecordedCall& call = tape_[written_];
    while (steps_[written_at_].plain != written_) ++written_at_;  // others lie between
    write_ops(call_places_[written_at_], [&](Builder&) {
      const Var value = write_call(call);
      if (value.none()) return;
      if (call.is_new()) {
        slots_[call.into.slot].value = value.id();
        return;
      }
      const NumberedView& into = views_[call.into.view];
      write_version(call.into.slot, into.view, *record::box_of(into.view, into.store), value);
    });
  }
}

std::int64_t Recorder::bytes_of(const RecordedCall& call) const {
  const auto bytes = [&](const RecordedCall::Part& part) {
    if (part.view == kNoView) return std::int64_t{0};
    return views_[part.view].elements * byte_size(slots_[part.slot].type->dtype);
  };
  std::int64_t all = call.is_new() ? types_[call.type]->bytes() : bytes(call.into);
  for (std::size_t i = 0; i < call.inputs; ++i) all += bytes(call.in[i]);
  return all;
}

// ---- windows of plain calls that are known

std::uint64_t Recorder::tape_hash(const std::vector<StorePtr>& stores) const {
  std::uint64_t hash = stores.size();
  for (std::size_t i = 0; i < tape_.size(); ++i) {
    const RecordedCall& call = tape_[i];
    hash = hash_combine(hash ^ calls_[i], word(call.in[0].slot, call.in[1].slot) ^
                                              word(call.into.slot, call.in[2].slot) << 16);
  }
  for (const StorePtr& store : stores) hash = hash_combine(hash, store->slot_);
  for (const SlotUse& slot : slots_)
    if (slot.argument != SIZE_MAX)
      hash = hash_combine(hash, static_cast<std::uint64_t>(slot.type->dtype));
  return hash;
}

// Which slots are arguments follows from the calls: those that are read before they are written.
Recorder::KnownPtr Recorder::find_tape(const std::vector<StorePtr>& stores,
                                       const std::vector<bool>& donated) const {
  const auto is_equal = [&](const Known& known) {
    if (known.calls != tape_ || known.donated != donated) return false;
    if (known.results.size() != stores.size() || known.arguments.size() != arguments_.size())
      return false;
    for (std::size_t i = 0; i < stores.size(); ++i)
      if (known.results[i] != stores[i]->slot_) return false;
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      if (known.arguments[i] != arguments_[i].type()) return false;
    return true;
  };
  if (expected_ && is_equal(*expected_)) return expected_;
  for (auto [at, end] = tapes_.equal_range(tape_hash(stores)); at != end; ++at)
    if (is_equal(*at->second)) return at->second;
  return nullptr;
}

void Recorder::keep_tape(const std::vector<StorePtr>& stores, const std::vector<bool>& donated,
                         const Done& done) {
  if (tapes_.size() >= options_.executables) tapes_.clear();
  Known known{tape_, {}, {}, donated, call_places_, done.lines, done.ops, done.executable};
  known.needed_bytes = needed_bytes(done.executable, false, arguments_);
  for (const Argument& argument : arguments_) known.arguments.push_back(argument.type());
  for (const StorePtr& store : stores) known.results.push_back(store->slot_);
  tapes_.emplace(tape_hash(stores), std::make_shared<const Known>(std::move(known)));
}

}  // namespace heddle
