// Windows that run call by call: which of them, and how.
#include "heddle/recorder.h"
#include "record/attempt.h"
#include "record/background.h"

namespace heddle {

bool is_about_memory(std::string_view reason) {
  return reason.find("there is not enough memory") != std::string_view::npos ||
         reason.find("MemoryError: Unable to allocate") != std::string_view::npos;
}

// Whether each call can be done by itself.
bool Recorder::can_run_directly() const {
  if (!options_.direct_memory || devices_) return false;
  for (const Step& step : steps_)
    if (!step.step && (step.plain == SIZE_MAX || !options_.direct_step)) return false;
  for (const Argument& argument : arguments_)
    if (argument.spread) return false;
  return true;
}

// A window that is new is done directly, unless that would take longer than to compile it first.
// One that comes again, or is large, is compiled in the background meanwhile. So a loop loses
// nothing in its first turns, and what never comes again is never compiled. Before its program is
// written the answer is no where that is wanted.
bool Recorder::is_for_direct_run(const Target& target, std::uint64_t hash, bool is_written) {
  // Ranks decide alike only by what is the same for all of them, which times are not.
  if (options_.direct == DirectRuns::never || !can_run_directly()) return false;
  std::int64_t bytes = 0;
  for (const Step& step : steps_)
    bytes += step.step ? step.step->bytes() : bytes_of(tape_[step.plain]);
  std::int64_t to_fetch = 0;
  for (const Argument& argument : arguments_)
    if (!argument.value.in_host_memory()) to_fetch += argument.type().bytes();
  if (options_.direct == DirectRuns::always) return true;
  constexpr double kBytesPerSecond = 4e9;  // of one core that reads and writes, call by call
  constexpr double kFetchedPerSecond = 1e10;
  const double seconds = static_cast<double>(bytes) / kBytesPerSecond +
                         static_cast<double>(to_fetch) / kFetchedPerSecond;
  constexpr double kOpsPerCall = 2;
  const double ops = is_written ? static_cast<double>(builder_.program.op_count())
                                : kOpsPerCall * static_cast<double>(calls_.size());
  const double to_compile = background_->seconds(ops);
  if (seconds > 2 * to_compile) return false;
  constexpr std::size_t kRemembered = 4096;
  if (came_.size() >= kRemembered) came_.clear();
  int& times = came_[hash];
  const bool is_wanted = times > 0 || seconds > to_compile / 4;
  // A window of plain calls is counted by these.
  if (is_written && is_plain()) {
    background_->compile(builder_.program, target);
    return true;
  }
  if (is_wanted && !is_written) return false;
  ++times;
  if (is_wanted) background_->compile(builder_.program, target);
  return true;
}

// A call that fails takes with it what depends on it, and nothing else: no where that was not for
// want of memory.
Verdict Recorder::run_directly(const std::vector<StorePtr>& stores, const std::string& why_gone) {
  const std::unique_ptr<DirectMemory> memory = options_.direct_memory();
  std::unordered_map<Slot, std::string> lost;
  Verdict verdict = yes();
  const auto lose = [&](Slot slot, const std::string& why) {
    if (slot != kNoSlot) memory->lose(slot, why);
    lost.emplace(slot, why);
    if (verdict && !is_about_memory(why)) verdict = reason("{}", why);
  };
  std::vector<bool> stays(slots_.size());
  for (const StorePtr& store : stores) stays[store->slot_] = true;
  std::vector<std::vector<Slot>> last(steps_.size());  // what is not used after a step
  for (Slot slot = 0; slot < slots_.size(); ++slot) {
    const SlotUse& use = slots_[slot];
    if (use.argument != SIZE_MAX) {
      const Verdict is_here = record::attempt([&]() -> Verdict {
        if (use.argument >= arguments_.size() || arguments_[use.argument].is_gone)
          return reason("{}", why_gone);
        Argument& argument = arguments_[use.argument];
        HEDDLE_TRY_VOID(bring_to_host(argument));
        memory->start(slot, argument.value.take_array());
        return yes();
      });
      if (!is_here) lose(slot, is_here.reason());
    }
    if (!stays[slot] && use.last < last.size()) last[use.last].push_back(slot);
  }
  arguments_.clear();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    const Verdict is_done = record::attempt([&]() -> Verdict {
      if (lost.contains(step.target)) return yes();  // it may be there in parts
      if (!step.step) step.step = options_.direct_step(*this, tape_[step.plain]);
      step.step->run(*memory, step.target);
      return yes();
    });
    if (!is_done) lose(step.target, is_done.reason());
    step.step = nullptr;
    for (Slot slot : last[i]) memory->drop(slot);
  }
  for (const StorePtr& store : stores) {
    const Verdict is_there = record::attempt([&]() -> Verdict {
      if (const auto why = lost.find(store->slot_); why != lost.end())
        return reason("{}", why->second);
      Array array = memory->take(store->slot_);
      counts_.bytes_out += array.type().bytes();
      store->rest_at(DeviceValue(std::move(array)));
      return yes();
    });
    if (!is_there) {
      store->lose("this array was to be computed in a window that failed: " + is_there.reason());
      if (verdict && !is_about_memory(is_there.reason())) verdict = is_there;
    }
  }
  return verdict;
}

void Recorder::wait_for_code() { background_->wait(); }
void Recorder::stop_compiling() { background_->stop(); }

}  // namespace heddle
