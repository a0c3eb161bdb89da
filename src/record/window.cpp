// The end of a window: what of it is seen, its executable, the run, and how large the next one is.
#include <algorithm>
#include <chrono>

#include "heddle/recorder.h"
#include "record/attempt.h"
#include "record/background.h"

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
// them, nor are single numbers, which nothing is won by.
std::vector<bool> Recorder::dead_arguments() const {
  std::vector<bool> dead;
  dead.reserve(arguments_.size());
  for (const auto& [value, spread, of, there, is_gone] : arguments_) {
    if (spread || devices_ || value.type().rank() == 0) {
      dead.push_back(false);
    } else if (!value.in_host_memory()) {
      dead.push_back(value.buffer().memory.use_count() == 1);
    } else {
      const auto& block = value.array().block();
      const bool is_ours = block && !value.array().is_splat() && !block->is_view();
      dead.push_back(is_ours && block.use_count() == 1);
    }
  }
  return dead;
}

// What is there for an equal window. Code that overwrites no argument does for any of them, until
// there is better.
std::optional<Executable> Recorder::known(Target& target, bool& is_best) {
  is_best = true;
  if (auto found = cache_->find(builder_.program, target)) return found;
  is_best = false;
  if (options_.direct != DirectRuns::unknown || !options_.direct_memory) return {};
  Target careful = target;
  careful.options.donated.assign(arguments_.size(), false);
  auto found = cache_->find(builder_.program, careful);
  if (found) background_->compile(builder_.program, target);
  return found;
}

Expected<Executable> Recorder::compiled(const Target& target) {
  const auto start = std::chrono::steady_clock::now();
  auto made = cache_->compile(builder_.program, target);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  background_->took(builder_.program, took.count());
  return made;
}

void Recorder::end_program(const std::vector<StorePtr>& stores) {
  write_tape();
  if (!arguments_.empty()) argument_value(arguments_.size() - 1);
  std::vector<ValueId> results;
  for (const StorePtr& store : stores) results.push_back(value_of(store->slot_));
  builder_.end(body_, results);
  builder_.program.functions.back().arg_attrs.resize(arguments_.size());
}

// The window as one call, of its executable where that is there; values of stores are there
// afterwards.
Verdict Recorder::run(const std::vector<StorePtr>& stores, Done& done) {
  moved_.clear();
  done.arguments = arguments_.size();
  done.results = stores.size();
  for (const Argument& argument : arguments_) counts_.bytes_in += argument.type().bytes();
  std::vector<bool> donated = dead_arguments();
  std::optional<Executable> found;
  if (is_plain() && options_.direct != DirectRuns::always) {
    if (KnownPtr tape = find_tape(stores, donated)) {
      found = tape->executable;
      done.ops = tape->ops;
      done.lines = tape->lines;
      // Only a program can be cut in pieces.
      if (tape->needed_bytes > limit_on(tape->executable.device())) end_program(stores);
      expected_ = std::move(tape);
    }
  }
  done.was_known = found.has_value();
  Target target;
  if (!found) {
    target = options_.target;
    target.options.donated = std::move(donated);
    if (devices_) place(target, stores);
    if (is_for_device()) target.options.device = device_;
  }
  // One that comes for the first time has no need of a program.
  if (!found && is_plain()) done.was_direct = is_for_direct_run(target, tape_hash(stores), false);
  if (!found && !done.was_direct) {
    end_program(stores);
    done.ops = builder_.program.op_count();
    bool is_best = false;
    if (options_.direct != DirectRuns::always) found = known(target, is_best);
    done.was_known = found.has_value();
    done.was_direct = !found && is_for_direct_run(target, builder_.program.hash(), true);
    if (found && is_best && is_plain()) {
      done.executable = *found;
      done.lines = lines();
      keep_tape(stores, target.options.donated, done);
    }
  }
  if (done.lines.empty()) done.lines = lines();
  Verdict verdict = yes();
  const auto run_by_steps = [&] {
    const auto work = [&] { verdict = run_directly(stores, done.failed); };
    options_.aside ? options_.aside(work, true) : work();
    keep_moved();
    return verdict;
  };
  if (done.was_direct) return run_by_steps();
  // Memory that Python lends is given back by the thread that came with it.
  std::vector<DeviceValue> lent;
  for (const Argument& argument : arguments_)
    if (!argument.spread && argument.value.in_host_memory() && argument.value.array().block() &&
        argument.value.array().block()->is_view())
      lent.push_back(argument.value);
  std::vector<Argument> values;
  const auto work = [&] {
    verdict = record::attempt([&] { return compute(found, target, done, values); });
  };
  options_.aside ? options_.aside(work, false) : work();
  keep_aligned();
  keep_moved();
  if (!verdict && can_run_directly()) {
    done.failed = verdict.reason();
    done.was_direct = true;
    values.clear();
    lent.clear();
    return run_by_steps();
  }
  if (!verdict) return verdict;
  for (std::size_t i = 0; i < stores.size(); ++i) {
    counts_.bytes_out += values[i].type().bytes();
    if (values[i].spread)
      keep_track(stores[i]).rest_at(std::move(values[i].spread));
    else
      stores[i]->rest_at(std::move(values[i].value));
  }
  return yes();
}

void Recorder::place(Target& target, const std::vector<StorePtr>& stores) const {
  std::vector<Type> arguments, results;
  for (const Argument& argument : arguments_) arguments.push_back(argument.type());
  for (const StorePtr& store : stores) results.push_back(*store->type_);
  devices_->place(target, arguments, results);
}

// Of stores that are in parts, so that they can be had whole when devices change.
Store& Recorder::keep_track(const StorePtr& store) {
  constexpr std::size_t kMany = 1024;
  if (spread_.size() >= kMany)
    std::erase_if(spread_, [](const std::weak_ptr<Store>& one) { return one.expired(); });
  spread_.push_back(store);
  return *store;
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
  if (end == WindowEnd::read) done.read_at = place_of_call();
  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict = record::attempt([&] { return run(stores, done); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  done.seconds = took.count();
  lonely_ = done.calls == 1 && end != WindowEnd::full ? lonely_ + 1 : 0;
  if (verdict) {
    count(done);
    if (profiling_) profile_run(done);
    past_.add(calls_);
    if (end == WindowEnd::full)
      grow(done.was_known, done.seconds);
    else
      turn_ = 0;  // the next one begins elsewhere in a turn
  } else {
    for (const StorePtr& store : stores)
      if (store->pending_)
        store->lose("this array was to be computed in a window that failed: " + verdict.reason());
  }
  open();
  if (!verdict) return verdict.why();
  constexpr std::size_t kKept = 16;
  done_.push_back(std::move(done));
  if (done_.size() > kKept) done_.pop_front();
  return yes();
}

void Recorder::abandon(const std::string& why) {
  for (const StorePtr& store : seen()) store->lose(why);
  recording_ = false;
  turn_ = 0;
  open();
}

Verdict Recorder::set_devices(std::shared_ptr<WindowDevices> devices) {
  if (devices && device_ != nullptr)
    return reason("windows run on {}: several devices share the host's memory", device_->name());
  HEDDLE_TRY_VOID(flush());
  // What lies on the old ones is asked for in whole from then on.
  for (const auto& weak : spread_)
    if (const StorePtr store = weak.lock()) {
      HEDDLE_TRY_VOID(host(*store));
      store->spread_ = nullptr;
    }
  spread_.clear();
  devices_ = std::move(devices);
  return yes();
}

void Recorder::count(const Done& done) {
  ++(done.was_direct ? counts_.direct : done.was_known ? counts_.found : counts_.compiled);
  counts_.ops += static_cast<std::int64_t>(done.ops);
  counts_.pieces += std::max(0, done.pieces - 1);
  if (done.was_direct) return;
  for (const StepInfo& step : done.executable.steps()) {
    if (step.depth == 0 && step.kind != "copy") ++counts_.launches;
    if (step.kind == "collective") counts_.bytes_sent += step.bytes_read;
  }
}

// Windows that are full take whole turns of a loop, where the last calls are turns of one: then all
// of them are equal, and one executable serves them all. They become larger once they have been
// known for a while: each size is compiled anew. A turn that is too long for a window takes
// several, which are the same in every turn.
void Recorder::grow(bool was_known, double seconds) {
  constexpr int kPatience = 8;
  // What takes longer than this has little to win by fewer windows.
  constexpr double kWorthwhile = 2e-3;
  bool larger = false;
  known_in_a_row_ = was_known ? known_in_a_row_ + 1 : 0;
  if (known_in_a_row_ >= kPatience) {
    known_in_a_row_ = 0;
    larger = devices_ != nullptr || seconds < kWorthwhile;  // ranks have to grow alike
  }
  const std::size_t most = options_.largest_window;
  const std::size_t room = std::min(most, larger ? 2 * limit_ : limit_);
  // While turns go on as they are, none is looked for: that takes longer than recording may.
  const bool goes_on = turn_ != 0 && past_.repeats(turn_, calls_.size());
  const std::size_t turn = goes_on ? turn_ : past_.turn();
  if (turn == 0) {
    limit_ = std::min(most, 2 * limit_);
  } else if (turn <= most) {
    limit_ = std::max(turn, room / turn * turn);
  } else {
    const std::size_t parts = (turn + most - 1) / most;
    part_ = turn == turn_ ? (part_ + 1) % parts : 0;
    limit_ = turn * (part_ + 1) / parts - turn * part_ / parts;
  }
  turn_ = turn;
}

Expected<DeviceValue> Recorder::value(Store& store) {
  if (!store.lost_.empty()) return reason("{}", store.lost_);
  if (store.pending_) {
    HEDDLE_TRY_VOID(flush(WindowEnd::read));
    if (!store.lost_.empty()) return reason("{}", store.lost_);
  }
  if (store.is_spread()) {
    HEDDLE_TRY(Array whole, devices_->whole(*store.spread_));
    store.memory_ = DeviceValue(std::move(whole));
    store.whole_ = true;
    ++store.generation_;
  }
  return store.memory_;
}

Expected<Array> Recorder::host(Store& store) {
  HEDDLE_TRY(const DeviceValue held, value(store));
  if (held.in_host_memory()) return held.array();
  Expected<Array> read = reason("nothing was read");
  // Others go on meanwhile.
  const auto work = [&] { read = to_host(*held.buffer().device->queue(), held); };
  options_.aside ? options_.aside(work, false) : work();
  HEDDLE_TRY(Array copy, std::move(read));
  counts_.bytes_back += copy.type().bytes();
  store.rest_at(DeviceValue(copy));
  store.there_ = held.buffer();
  return copy;
}

Verdict Recorder::make_writable(Store& store) {
  HEDDLE_TRY_VOID(host(store));
  ++store.written_;
  if (store.shared_) return yes();
  // The window's own use of the old version goes on with the old memory.
  forget(store);
  if (store.is_sole_owner()) return yes();
  store.rest_at(DeviceValue(Array(*store.type_, store.memory_.array().bytes())));
  return yes();
}

Verdict Recorder::share(Store& store) {
  HEDDLE_TRY_VOID(make_writable(store));
  store.shared_ = true;
  store.spread_ = nullptr;
  store.there_ = {};
  return yes();
}

StorePtr Recorder::shared_store(Array memory) {
  auto made = store(DeviceValue(std::move(memory)));
  made->shared_ = true;
  return made;
}

}  // namespace heddle
