// What is recorded: stores, their versions, and the ops of the open window.
#include "heddle/recorder.h"

#include "heddle/hash.h"
#include "heddle/op.h"
#include "record/background.h"
#include "record/view_ops.h"

namespace heddle {

bool Store::is_sole_owner() const {
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
  spread_ = nullptr;
  whole_ = true;
  pending_ = false;
  ++generation_;
  value_ = kNone;
  slot_ = kNoSlot;
  writes_.clear();
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
  open();
}

Recorder::~Recorder() { background_->stop(); }

void Recorder::open() {
  ++window_;
  builder_ = Builder("window");
  body_ = builder_.begin("main");
  arguments_.clear();
  touched_.clear();
  calls_.clear();
  steps_.clear();
  slots_.clear();
  places_.clear();
  lines_.clear();
  bytes_ = 0;
}

// A mistake in a call is ours: callers have checked shapes and types. The window goes on without
// it.
void Recorder::record(const std::function<void(Builder&)>& write, DirectStepPtr direct) {
  if (recording_)
    throw Error("an operation on recorded arrays that writes its ops cannot call another one");
  const std::size_t first = builder_.program.op_count();
  target_ = kNoSlot;
  if (options_.place) {
    const auto [known, is_new] = places_.try_emplace(options_.place());
    if (is_new) {
      Location location;
      location.user = options_.place_name();
      lines_.push_back(location.user);
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
  std::uint64_t hash = 0;
  for (std::size_t op = first; op < builder_.program.op_count(); ++op) {
    const Op& made = builder_.program.op(static_cast<OpId>(op));
    hash = hash_combine(hash, made.def->hash);
    if (made.result_count > 0) hash = hash_combine(hash, builder_.program.value(made.results).type);
  }
  calls_.push_back(hash);
  // The call's own store has its slot already.
  steps_.push_back({std::move(direct), target_});
  if (target_ != kNoSlot) slots_[target_].last = steps_.size() - 1;
}

Slot Recorder::new_slot(std::size_t argument) {
  slots_.push_back({argument, steps_.size()});
  return static_cast<Slot>(slots_.size() - 1);
}

Slot Recorder::slot(Store& store) {
  version(store);
  slots_[store.slot_].last = steps_.size();
  return store.slot_;
}

void Recorder::set_version(const StorePtr& store, Var value) {
  store->window_ = window_;
  store->value_ = value.id();
  touched_.push_back(store);
  bytes_ += store->type_.bytes();
}

StorePtr Recorder::keep(const Write& write, DirectStepPtr direct) {
  StorePtr store;
  record(
      [&](Builder& b) {
        const Var value = write(b);
        if (value.none()) return;
        store = std::make_shared<Store>(value.type());
        target_ = store->slot_ = new_slot(SIZE_MAX);
        set_version(store, value);
      },
      std::move(direct));
  after_call();
  return store;
}

std::vector<StorePtr> Recorder::keep_all(const std::function<Vars(Builder&)>& write) {
  std::vector<StorePtr> stores;
  record(
      [&](Builder& b) {
        for (const Var value : write(b)) {
          if (value.none()) return;
          stores.push_back(std::make_shared<Store>(value.type()));
          stores.back()->slot_ = new_slot(SIZE_MAX);
          set_version(stores.back(), value);
        }
      },
      nullptr);
  after_call();
  return stores;
}

bool Recorder::can_show(const Store& store, const AffineView& view) {
  return view.elements() > 0 && record::box_of(view, store.type().shape).has_value();
}

bool Recorder::can_write(const Store& store, const AffineView& view) {
  return can_show(store, view) && !record::repeats(view);
}

Verdict Recorder::write(const StorePtr& store, const AffineView& view, const Write& write,
                        DirectStepPtr direct) {
  if (!can_write(*store, view))
    return reason("no box of {} shows these elements once each", store->type_.str());
  const BoxView box = *record::box_of(view, store->type_.shape);
  record(
      [&](Builder& b) {
        const Var value = write(b);
        if (value.none()) return;
        const bool is_first = store->window_ != window_ || !store->pending_;
        Var before;
        if (!box.is_whole()) before = version(*store);
        // A whole write needs no version before it, but only the type.
        const Var after = box.is_whole() ? record::write_whole(b, value, store->type_, box)
                                         : record::write_box(b, before, value, box);
        if (after.none()) return;
        if (is_first || box.is_whole()) store->writes_.clear();
        if (box.is_whole()) store->lost_.clear();
        constexpr std::size_t kMostWrites = 16;
        if (store->writes_.size() == kMostWrites) store->writes_.erase(store->writes_.begin());
        if (!box.is_whole()) store->writes_.push_back({view, value.id(), before.id()});
        const bool was_pending = store->pending_;
        ++store->written_;
        store->pending_ = true;
        store->memory_ = {};
        store->spread_ = nullptr;
        store->whole_ = false;
        if (store->window_ != window_ || store->slot_ == kNoSlot) store->slot_ = new_slot(SIZE_MAX);
        target_ = store->slot_;
        if (!was_pending)
          set_version(store, after);
        else
          store->value_ = after.id();
      },
      std::move(direct));
  after_call();
  return yes();
}

// The present version as a value of the window: an argument where it is in memory.
Var Recorder::version(Store& store) {
  if (!store.lost_.empty()) throw Error(store.lost_);
  if (store.window_ != window_ || store.value_ == kNone) {
    HEDDLE_CHECK(!store.pending_, "a window ended without one of its values");
    store.window_ = window_;
    store.slot_ = new_slot(arguments_.size());
    store.value_ = argument({store.memory_, store.spread_}).id();
  }
  return {builder_, store.value_};
}

Var Recorder::argument(Argument given) {
  Program& program = builder_.program;
  const ValueId id = program.add_arg(body_, program.intern(given.type()));
  bytes_ += given.type().bytes();
  arguments_.push_back(std::move(given));
  return {builder_, id};
}

Var Recorder::scalar(Array value) { return argument({DeviceValue(std::move(value)), nullptr}); }

Var Recorder::read(Store& store) { return version(store); }

// Writes that do not concern the view are looked through, so that it depends on nothing it need
// not.
Expected<Var> Recorder::read(Store& store, const AffineView& view) {
  if (view.elements() == 0) return reason("there is nothing to read");
  const Shape& shape = store.type_.shape;
  Var from = version(store);
  if (store.pending_) {
    for (std::size_t n = store.writes_.size(); n-- > 0;) {
      const Store::Written& written = store.writes_[n];
      const Meeting& meeting = record::meeting_of(written.view, view, shape);
      if (meeting.kind == Meeting::Kind::same) return Var(builder_, written.value);
      if (meeting.kind != Meeting::Kind::disjoint) break;
      from = Var(builder_, written.before);
    }
  }
  if (view.offset == 0 && view.shape == shape && view.is_dense()) return from;
  const auto& box = record::box_of(view, shape);
  if (!box) return reason("no box of {} shows these elements", store.type_.str());
  return record::read_box(builder_, from, view, *box);
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
  for (const StorePtr& store : seen()) bytes += store->type_.bytes();
  const std::vector<bool> dead = dead_arguments();
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    if (dead[i]) bytes += arguments_[i].type().bytes();
  return bytes;
}

}  // namespace heddle
