// What is recorded: stores, their versions, and the ops of the open window.
#include "heddle/recorder.h"

#include "heddle/hash.h"
#include "heddle/op.h"
#include "record/view_ops.h"

namespace heddle {

bool Store::is_sole_owner() const {
  if (pending_ || !memory_.in_host_memory()) return false;
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
  pending_ = false;
  ++generation_;
  value_ = kNone;
  writes_.clear();
}

void Store::lose(std::string why) {
  rest_at({});
  lost_ = std::move(why);
}

Recorder::Recorder(RecordOptions options)
    : options_(std::move(options)), cache_(options_.executables), limit_(options_.first_window) {
  open();
}

void Recorder::open() {
  ++window_;
  builder_ = Builder("window");
  body_ = builder_.begin("main");
  arguments_.clear();
  touched_.clear();
  calls_.clear();
  bytes_ = 0;
}

// A mistake in a call is ours: callers have checked shapes and types. The window goes on without
// it.
void Recorder::record(const std::function<void(Builder&)>& write) {
  if (recording_)
    throw Error("an operation on recorded arrays that writes its ops cannot call another one");
  const std::size_t first = builder_.program.op_count();
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
}

void Recorder::set_version(const StorePtr& store, Var value) {
  store->window_ = window_;
  store->value_ = value.id();
  touched_.push_back(store);
  bytes_ += store->type_.bytes();
}

StorePtr Recorder::keep(const Write& write) {
  StorePtr store;
  record([&](Builder& b) {
    const Var value = write(b);
    if (value.none()) return;
    store = std::make_shared<Store>(value.type());
    set_version(store, value);
  });
  after_call();
  return store;
}

std::vector<StorePtr> Recorder::keep_all(const std::function<Vars(Builder&)>& write) {
  std::vector<StorePtr> stores;
  record([&](Builder& b) {
    for (const Var value : write(b)) {
      if (value.none()) return;
      stores.push_back(std::make_shared<Store>(value.type()));
      set_version(stores.back(), value);
    }
  });
  after_call();
  return stores;
}

bool Recorder::can_show(const Store& store, const AffineView& view) {
  return view.elements() > 0 && find_box(view, store.type().shape).has_value();
}

bool Recorder::can_write(const Store& store, const AffineView& view) {
  return can_show(store, view) && !record::repeats(view);
}

Verdict Recorder::write(const StorePtr& store, const AffineView& view, const Write& write) {
  if (!can_write(*store, view))
    return reason("no box of {} shows these elements once each", store->type_.str());
  const BoxView box = *find_box(view, store->type_.shape);
  record([&](Builder& b) {
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
    if (!was_pending)
      set_version(store, after);
    else
      store->value_ = after.id();
  });
  after_call();
  return yes();
}

// The present version as a value of the window: an argument where it is in memory.
Var Recorder::version(Store& store) {
  if (!store.lost_.empty()) throw Error(store.lost_);
  if (store.window_ != window_ || store.value_ == kNone) {
    HEDDLE_CHECK(!store.pending_, "a window ended without one of its values");
    store.window_ = window_;
    store.value_ = argument(store.memory_).id();
  }
  return {builder_, store.value_};
}

Var Recorder::argument(DeviceValue value) {
  Program& program = builder_.program;
  const ValueId id = program.add_arg(body_, program.intern(value.type()));
  bytes_ += value.type().bytes();
  arguments_.push_back(std::move(value));
  return {builder_, id};
}

Var Recorder::scalar(Array value) { return argument(DeviceValue(std::move(value))); }

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
      const Meeting meeting = meet(written.view, view, shape);
      if (meeting.kind == Meeting::Kind::same) return Var(builder_, written.value);
      if (meeting.kind != Meeting::Kind::disjoint) break;
      from = Var(builder_, written.before);
    }
  }
  if (view.offset == 0 && view.shape == shape && view.is_dense()) return from;
  const auto box = find_box(view, shape);
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
  for (const DeviceValue& argument : arguments_) bytes += argument.type().bytes();
  return bytes;
}

}  // namespace heddle
