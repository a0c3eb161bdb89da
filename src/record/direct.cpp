// Windows that run call by call: which of them, and how.
#include "heddle/recorder.h"
#include "record/background.h"

namespace heddle {

// A window that is new is done directly, unless that would take longer than to compile it first.
// One that comes again, or is large, is compiled in the background meanwhile. So a loop loses
// nothing in its first turns, and what never comes again is never compiled.
bool Recorder::is_for_direct_run(const Target& target) {
  // Ranks decide alike only by what is the same for all of them, which times are not.
  if (options_.direct == DirectRuns::never || !options_.direct_memory || devices_) return false;
  std::int64_t bytes = 0;
  for (const Step& step : steps_) {
    if (!step.step) return false;
    bytes += step.step->bytes();
  }
  for (const Argument& argument : arguments_)
    if (argument.spread || !argument.value.in_host_memory()) return false;
  if (options_.direct == DirectRuns::always) return true;
  constexpr double kBytesPerSecond = 4e9;  // of one core that reads and writes, call by call
  const double seconds = static_cast<double>(bytes) / kBytesPerSecond;
  const double to_compile = background_->seconds(builder_.program);
  if (seconds > 2 * to_compile) return false;
  constexpr std::size_t kRemembered = 4096;
  if (came_.size() >= kRemembered) came_.clear();
  const int times = ++came_[builder_.program.hash()];
  if (times > 1 || seconds > to_compile / 4) background_->compile(builder_.program, target);
  return true;
}

void Recorder::run_directly(const std::vector<StorePtr>& stores) {
  const std::unique_ptr<DirectMemory> memory = options_.direct_memory();
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
    steps_[i].step->run(*memory, steps_[i].target);
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
