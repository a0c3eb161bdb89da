// What is recorded: stores, their versions, and the ops of the open window.
#include "heddle/recorder.h"

#include "heddle/hash.h"
#include "heddle/op.h"
#include "record/background.h"
#include "record/view_ops.h"

namespace heddle {

bool Store::is_sole_owner() const {
  if (shared_) return true;  // whoever else has it is to see what is written
  if (pending_ || !whole_ || !memory_.in_host_memory()) return false;
  const auto& block = memory_.array().block();
  // A loan of memory that was here before says nothing of this.
  const auto loan = lent_.lock();
  return !block || block.use_count() == (loan && *loan == block ? 2 : 1);
}

std::shared_ptr<Block> Store::lend() const {
  const auto& block = memory_.array().block();
  if (!block) return nullptr;
  std::shared_ptr<std::shared_ptr<Block>> loan = lent_.lock();
  if (!loan || *loan != block) {
    loan = std::make_shared<std::shared_ptr<Block>>(block);
    lent_ = loan;
  }
  return {loan, block.get()};
}

void Store::rest_at(DeviceValue value) {
  memory_ = std::move(value);
  there_ = {};
  spread_ = nullptr;
  whole_ = true;
  pending_ = false;
  ++generation_;
  slot_ = kNoSlot;
}

void Store::rest_at(SpreadPtr parts) {
  rest_at(DeviceValue());
  whole_ = false;
  spread_ = std::move(parts);
}

void Store::lose(std::string why) {
  rest_at(DeviceValue());
  lost_ = std::move(why);
}

Recorder::Recorder(RecordOptions options)
    : options_(std::move(options)),
      cache_(std::make_shared<ExecutableCache>(options_.executables)),
      background_(std::make_unique<record::Background>(cache_)),
      limit_(options_.first_window) {
  has_ops_ = true;  // the builder is made with the first window
  open();
}

Recorder::~Recorder() { background_->stop(); }

void Recorder::open() {
  ++window_;
  if (has_ops_) {
    builder_ = Builder("window");
    builder_.program.file = "array calls";  // as messages call it
    body_ = builder_.begin("main");
  }
  has_ops_ = false;
  arguments_.clear();
  arg_values_.clear();
  touched_.clear();
  calls_.clear();
  call_places_.clear();
  tape_.clear();
  written_ = 0;
  written_at_ = 0;
  steps_.clear();
  slots_.clear();
  places_.clear();
  bytes_ = 0;
  constexpr std::size_t kMostNumbers = 8192;
  if (views_.size() < kMostNumbers && types_.size() < kMostNumbers) return;
  ++epoch_;
  views_.clear();
  view_numbers_.clear();
  types_.clear();
  type_numbers_.clear();
  tapes_.clear();
  expected_ = nullptr;
}

std::uint64_t Recorder::place_of_call() {
  if (!options_.place) return 0;
  const std::uint64_t place = options_.place();
  constexpr std::size_t kMostPlaces = 65536;
  if (place_names_.size() >= kMostPlaces) place_names_.clear();
  const auto [known, is_new] = place_names_.try_emplace(place);
  if (is_new) known->second = options_.place_name();
  return place;
}

// Ops of one call. A mistake in it is ours: callers have checked shapes and types. The window goes
// on without it.
void Recorder::write_ops(std::uint64_t place, const std::function<void(Builder&)>& write) {
  has_ops_ = true;
  if (options_.place) {
    const auto [known, is_new] = places_.try_emplace(place);
    if (is_new) {
      Location location;
      location.user = place_names_[place];
      known->second = builder_.program.add_location(std::move(location));
    }
    builder_.at(known->second);
  }
  recording_ = true;
  try {
    builder_.inside(body_, [&] { write(builder_); });
  } catch (...) {  // of a library's builder; the window goes on without it
    recording_ = false;
    throw;
  }
  recording_ = false;
  if (builder_.failed()) {
    Program so_far = std::move(builder_.program);
    const Reason why = builder_.finish().why();
    builder_.program = std::move(so_far);
    throw InternalError("a call was recorded that makes no sense", why.text);
  }
}

void Recorder::record(const std::function<void(Builder&)>& write, DirectStepPtr direct) {
  if (recording_)
    throw Error("an operation on recorded arrays that writes its ops cannot call another one");
  write_tape();
  const std::size_t first = builder_.program.op_count();
  target_ = kNoSlot;
  const std::uint64_t place = place_of_call();
  write_ops(place, write);
  std::uint64_t hash = 0;
  for (std::size_t op = first; op < builder_.program.op_count(); ++op) {
    const Op& made = builder_.program.op(static_cast<OpId>(op));
    hash = hash_combine(hash, made.def->hash);
    if (made.result_count > 0) hash = hash_combine(hash, builder_.program.value(made.results).type);
  }
  calls_.push_back(hash);
  call_places_.push_back(place);
  // The call's own store has its slot already.
  steps_.push_back({std::move(direct), target_});
  if (target_ != kNoSlot) slots_[target_].last = steps_.size() - 1;
}

// The type is one of types_.
Slot Recorder::new_slot(std::size_t argument, const Type& type) {
  slots_.push_back({argument, steps_.size(), &type});
  return static_cast<Slot>(slots_.size() - 1);
}

// The present version is an argument where it is in memory.
Slot Recorder::slot(Store& store) {
  if (!store.lost_.empty()) throw Error(store.lost_);
  if (store.window_ != window_ || store.slot_ == kNoSlot || store.shared_) {
    HEDDLE_CHECK(!store.pending_, "a window ended without one of its values");
    store.window_ = window_;
    store.slot_ = new_slot(arguments_.size(), *types_[type_number(*store.type_)]);
    bytes_ += store.type_->bytes();
    if (store.shared_)  // as it is now
      arguments_.push_back({DeviceValue(Array(*store.type_, store.memory_.array().bytes())), {}});
    else
      arguments_.push_back({store.memory_, store.spread_, store.weak_from_this(), store.there_});
  }
  slots_[store.slot_].last = steps_.size();
  return store.slot_;
}

ValueId Recorder::argument_value(std::size_t argument) {
  has_ops_ = true;
  Program& program = builder_.program;
  while (arg_values_.size() <= argument)
    arg_values_.push_back(
        program.add_arg(body_, program.intern(arguments_[arg_values_.size()].type())));
  return arg_values_[argument];
}

ValueId Recorder::value_of(Slot slot) {
  SlotUse& use = slots_[slot];
  if (use.value == kNone) {
    HEDDLE_CHECK(use.argument != SIZE_MAX, "a value of a window is read before it is written");
    use.value = argument_value(use.argument);
  }
  return use.value;
}

void Recorder::set_version(const StorePtr& store, Var value) {
  store->window_ = window_;
  slots_[store->slot_].value = value.id();
  touched_.push_back(store);
  bytes_ += store->type_->bytes();
}

StorePtr Recorder::keep(const Write& write, DirectStepPtr direct) {
  StorePtr store;
  record(
      [&](Builder& b) {
        const Var value = write(b);
        if (value.none()) return;
        store = std::make_shared<Store>(std::make_shared<const Type>(value.type()));
        target_ = store->slot_ = new_slot(SIZE_MAX, *types_[type_number(*store->type_)]);
        set_version(store, value);
      },
      std::move(direct));
  after_call();
  if (store && !store->lost_.empty()) throw Error(store->lost_);
  return store;
}

std::vector<StorePtr> Recorder::keep_all(const std::function<Vars(Builder&)>& write) {
  std::vector<StorePtr> stores;
  record(
      [&](Builder& b) {
        for (const Var value : write(b)) {
          if (value.none()) return;
          stores.push_back(std::make_shared<Store>(std::make_shared<const Type>(value.type())));
          stores.back()->slot_ = new_slot(SIZE_MAX, *types_[type_number(value.type())]);
          set_version(stores.back(), value);
        }
      },
      nullptr);
  after_call();
  return stores;
}

bool Recorder::can_show(const Store& store, const AffineView& view) {
  return !store.is_shared() && view.elements() > 0 &&
         record::box_of(view, store.type().shape).has_value();
}

bool Recorder::can_write(const Store& store, const AffineView& view) {
  return can_show(store, view) && !record::repeats(view);
}

Verdict Recorder::write(const StorePtr& store, const AffineView& view, const Write& write,
                        DirectStepPtr direct) {
  if (!can_write(*store, view))
    return reason("no box of {} shows these elements once each", store->type_->str());
  const BoxView box = *record::box_of(view, store->type_->shape);
  record(
      [&](Builder& b) {
        const Var value = write(b);
        if (value.none()) return;
        begin_write(store, box.is_whole());
        target_ = store->slot_;
        write_version(target_, view, box, value);
      },
      std::move(direct));
  after_call();
  return yes();
}

// From here on its present version is in the window; a whole write needs no version before it.
void Recorder::begin_write(const StorePtr& store, bool is_whole) {
  if (is_whole)
    store->lost_.clear();
  else
    slot(*store);
  if (store->window_ != window_ || store->slot_ == kNoSlot) {
    store->window_ = window_;
    store->slot_ = new_slot(SIZE_MAX, *types_[type_number(*store->type_)]);
  }
  ++store->written_;
  if (store->pending_) return;
  store->pending_ = true;
  store->memory_ = {};
  store->there_ = {};
  store->spread_ = nullptr;
  store->whole_ = false;
  touched_.push_back(store);
  bytes_ += store->type_->bytes();
}

void Recorder::write_version(Slot slot, const AffineView& view, const BoxView& box, Var value) {
  if (box.is_whole()) {
    const Var after = record::write_whole(builder_, value, *slots_[slot].type, box);
    slots_[slot].writes.clear();
    slots_[slot].value = after.id();
    return;
  }
  const Var before(builder_, value_of(slot));
  const Var after = record::write_box(builder_, before, value, box);
  if (after.none()) return;
  SlotUse& use = slots_[slot];
  constexpr std::size_t kMostWrites = 16;
  if (use.writes.size() == kMostWrites) use.writes.erase(use.writes.begin());
  use.writes.push_back({view, value.id(), before.id()});
  use.value = after.id();
}

// The present version as a value of the window.
Var Recorder::version(Store& store) { return {builder_, value_of(slot(store))}; }

Var Recorder::scalar(Array value) {
  bytes_ += value.type().bytes();
  arguments_.push_back({DeviceValue(std::move(value)), nullptr});
  return {builder_, argument_value(arguments_.size() - 1)};
}

Var Recorder::read(Store& store) { return version(store); }

Expected<Var> Recorder::read(Store& store, const AffineView& view) {
  if (view.elements() == 0) return reason("there is nothing to read");
  if (!record::box_of(view, store.type_->shape))
    return reason("no box of {} shows these elements", store.type_->str());
  return read_slot(slot(store), view);
}

// Writes that do not concern the view are looked through, so that it depends on nothing it need
// not.
Var Recorder::read_slot(Slot slot, const AffineView& view) {
  const Var present(builder_, value_of(slot));
  const SlotUse& use = slots_[slot];
  const Shape& shape = use.type->shape;
  Var from = present;
  for (std::size_t n = use.writes.size(); n-- > 0;) {
    const Written& written = use.writes[n];
    const Meeting& meeting = record::meeting_of(written.view, view, shape);
    if (meeting.kind == Meeting::Kind::same) return Var(builder_, written.value);
    if (meeting.kind != Meeting::Kind::disjoint) break;
    from = Var(builder_, written.before);
  }
  if (view.offset == 0 && view.shape == shape && view.is_dense()) return from;
  return record::read_box(builder_, from, view, *record::box_of(view, shape));
}

void Recorder::after_call() {
  ++counts_.calls;
  if (calls_.size() >= limit_) {
    flush(WindowEnd::full).value();
  } else if (bytes_ > options_.memory_limit) {
    bytes_ = held_bytes();
    if (bytes_ > options_.memory_limit) flush(WindowEnd::memory).value();
  }
}

// What would be memory if the window ended now, and arguments that only it holds.
std::int64_t Recorder::held_bytes() const {
  std::int64_t bytes = 0;
  for (const StorePtr& store : seen()) bytes += store->type_->bytes();
  const std::vector<bool> dead = dead_arguments();
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    if (dead[i]) bytes += arguments_[i].type().bytes();
  return bytes;
}

}  // namespace heddle
