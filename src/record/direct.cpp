// Windows that run call by call: which of them, and how.
#include "heddle/recorder.h"
#include "record/background.h"

namespace heddle {

// A window that is new is done directly, unless that would take longer than to compile it first.
// One that comes again, or is large, is compiled in the background meanwhile. So a loop loses
// nothing in its first turns, and what never comes again is never compiled. Before its program is
// written the answer is no where that is wanted.
bool Recorder::is_for_direct_run(const Target& target, std::uint64_t hash, bool is_written) {
  // Ranks decide alike only by what is the same for all of them, which times are not.
  if (options_.direct == DirectRuns::never || !options_.direct_memory || devices_) return false;
  std::int64_t bytes = 0;
  for (const Step& step : steps_) {
    if (!step.step && (step.plain == SIZE_MAX || !options_.direct_step)) return false;
    bytes += step.step ? step.step->bytes() : bytes_of(tape_[step.plain]);
  }
  std::int64_t to_fetch = 0;
  for (const Argument& argument : arguments_) {
    if (argument.spread) return false;
    if (!argument.value.in_host_memory()) to_fetch += argument.type().bytes();
  }
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

void Recorder::run_directly(const std::vector<StorePtr>& stores) {
  const std::unique_ptr<DirectMemory> memory = options_.direct_memory();
  for (Argument& argument : arguments_) bring_to_host(argument).value();
  std::vector<bool> stays(slots_.size());
  for (const StorePtr& store : stores) stays[store->slot_] = true;
  std::vector<std::vector<Slot>> last(steps_.size());  // what is not used after a step
  for (Slot slot = 0; slot < slots_.size(); ++slot) {
    const SlotUse& use = slots_[slot];
    if (use.argument != SIZE_MAX) memory->start(slot, arguments_[use.argument].value.take_array());
    if (!stays[slot] && use.last < last.size()) last[use.last].push_back(slot);
  }
  arguments_.clear();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (!step.step) step.step = options_.direct_step(*this, tape_[step.plain]);
    step.step->run(*memory, step.target);
    step.step = nullptr;
    for (Slot slot : last[i]) memory->drop(slot);
  }
  for (const StorePtr& store : stores) {
    Array array = memory->take(store->slot_);
    counts_.bytes_out += array.type().bytes();
    store->rest_at(DeviceValue(std::move(array)));
  }
}

void Recorder::wait_for_code() { background_->wait(); }
void Recorder::stop_compiling() { background_->stop(); }

}  // namespace heddle
