// The end of a window: what of it is seen, its executable, the run, and how large the next one is.
#include <algorithm>
#include <unordered_set>

#include "heddle/log.h"
#include "heddle/recorder.h"

namespace heddle {

std::string_view words(WindowEnd end) {
  switch (end) {
    case WindowEnd::read:
      return "a value was read";
    case WindowEnd::full:
      return "it was full";
    case WindowEnd::memory:
      return "it held as much memory as it may";
    case WindowEnd::asked:
      return "it was asked for";
  }
  return "";
}

// Stores with a version in the open window that a handle still reaches, in order.
std::vector<StorePtr> Recorder::seen() const {
  std::vector<StorePtr> stores;
  for (const auto& touched : touched_)
    if (StorePtr store = touched.lock(); store && store->pending_) stores.push_back(store);
  return stores;
}

// Arguments that nobody else holds any more may be overwritten. Python's memory is never one of
// them.
std::vector<bool> Recorder::dead_arguments() const {
  std::vector<bool> dead;
  for (const DeviceValue& argument : arguments_) {
    const bool is_ours = argument.in_host_memory() && argument.array().block() &&
                         !argument.array().is_splat() && !argument.array().block()->is_view();
    dead.push_back(is_ours && argument.array().block().use_count() == 1);
  }
  return dead;
}

Expected<Executable> Recorder::executable(bool& was_known) {
  Function& main = builder_.program.functions.back();
  main.arg_attrs.resize(arguments_.size());
  Target target = options_.target;
  target.options.donated = dead_arguments();
  if (auto found = cache_.find(builder_.program, target)) {
    was_known = true;
    return *std::move(found);
  }
  return cache_.compile(builder_.program, target);
}

// The window as a call of its executable; values of stores are there afterwards.
Verdict Recorder::run(const std::vector<StorePtr>& stores, Done& done) {
  std::vector<ValueId> results;
  for (const StorePtr& store : stores) results.push_back(store->value_);
  builder_.end(body_, results);
  HEDDLE_TRY(done.executable, executable(done.was_known));
  done.ops = builder_.program.op_count();
  done.arguments = arguments_.size();
  done.results = results.size();
  for (const DeviceValue& argument : arguments_) counts_.bytes_in += argument.type().bytes();
  // Memory that Python lends is given back by the thread that came with it.
  std::vector<DeviceValue> lent;
  for (const DeviceValue& argument : arguments_)
    if (argument.in_host_memory() && argument.array().block() &&
        argument.array().block()->is_view())
      lent.push_back(argument);
  HEDDLE_TRY(std::vector<DeviceValue> values, done.executable.run_values(std::move(arguments_)));
  for (std::size_t i = 0; i < stores.size(); ++i) {
    counts_.bytes_out += values[i].type().bytes();
    stores[i]->rest_at(std::move(values[i]));
  }
  return yes();
}

Verdict Recorder::flush(WindowEnd end) {
  if (recording_) return reason("a value was asked for while an operation writes its ops");
  const std::vector<StorePtr> stores = seen();
  if (stores.empty()) {  // nobody sees anything of it
    if (!calls_.empty()) open();
    return yes();
  }
  Done done;
  done.number = ++counts_.windows;
  done.calls = calls_.size();
  done.end = end;
  Verdict verdict = yes();
  try {
    verdict = run(stores, done);
  } catch (const std::bad_alloc&) {
    verdict = reason("there is not enough memory for a window of {} array calls", done.calls);
  } catch (const std::exception& error) {
    verdict = reason("{}", error.what());
  }
  if (verdict) {
    count(done);
    if (end == WindowEnd::full) grow(done.was_known);
  } else {
    for (const StorePtr& store : stores)
      store->lose("this array was to be computed in a window that failed: " + verdict.reason());
  }
  open();
  if (!verdict) return verdict.why();
  constexpr std::size_t kKept = 16;
  done_.push_back(std::move(done));
  if (done_.size() > kKept) done_.pop_front();
  return yes();
}

void Recorder::count(const Done& done) {
  ++(done.was_known ? counts_.found : counts_.compiled);
  counts_.ops += static_cast<std::int64_t>(done.ops);
  for (const StepInfo& step : done.executable.steps())
    if (step.depth == 0 && step.kind != "copy") ++counts_.launches;
}

// Windows that are full take whole turns of a loop, where the last calls are turns of one: then all
// of them are equal, and one executable serves them all. They become larger once they have been
// known for a while: each size is compiled anew.
void Recorder::grow(bool was_known) {
  constexpr int kPatience = 8;
  const std::size_t n = calls_.size();
  known_in_a_row_ = was_known ? known_in_a_row_ + 1 : 0;
  const bool larger = known_in_a_row_ >= kPatience;
  if (larger) known_in_a_row_ = 0;
  const std::size_t room = std::min(options_.largest_window, larger ? 2 * limit_ : limit_);
  for (std::size_t turn = 1; 2 * turn <= n; ++turn) {
    if (!std::equal(calls_.end() - static_cast<std::ptrdiff_t>(turn), calls_.end(),
                    calls_.end() - static_cast<std::ptrdiff_t>(2 * turn)))
      continue;
    limit_ = std::max(turn, room / turn * turn);
    return;
  }
  limit_ = std::min(options_.largest_window, 2 * limit_);
}

Expected<DeviceValue> Recorder::value(Store& store) {
  if (!store.lost_.empty()) return reason("{}", store.lost_);
  if (store.pending_) HEDDLE_TRY_VOID(flush(WindowEnd::read));
  return store.memory_;
}

Expected<Array> Recorder::host(Store& store) {
  HEDDLE_TRY(const DeviceValue held, value(store));
  if (held.in_host_memory()) return held.array();
  const auto queue = held.buffer().device->queue();
  HEDDLE_TRY(Array copy, to_host(*queue, held));
  store.rest_at(DeviceValue(copy));
  return copy;
}

Verdict Recorder::make_writable(Store& store) {
  HEDDLE_TRY_VOID(host(store));
  ++store.written_;
  // The window's own use of the old version goes on with the old memory.
  if (store.window_ == window_) store.value_ = kNone;
  if (store.is_sole_owner()) return yes();
  store.rest_at(DeviceValue(Array(store.type_, store.memory_.array().bytes())));
  return yes();
}

}  // namespace heddle
