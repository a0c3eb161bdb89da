// Windows on a device whose memory the host cannot touch, as a GPU's: which of them, and where
// their arguments are.
#include <algorithm>

#include "heddle/device.h"
#include "heddle/recorder.h"

namespace heddle {

Verdict Recorder::set_device(Device* device, std::int64_t least) {
  if (device != nullptr && device->in_host_memory()) device = nullptr;
  if (device != nullptr && devices_)
    return reason("windows run on {} devices that share the host's memory, and not on {} too",
                  devices_->count(), device->name());
  HEDDLE_TRY_VOID(flush());
  device_ = device;
  least_there_ = least;
  // These are found by their calls alone.
  tapes_.clear();
  expected_ = nullptr;
  return yes();
}

// By sizes alone, so that equal windows run in one place. What is small is done by the host, even
// where it has to be brought back: that takes no longer than to launch it, and needs no code.
bool Recorder::is_for_device() const {
  return std::ranges::any_of(
      slots_, [this](const SlotUse& slot) { return runs_there(slot.type->elements()); });
}

// Bytes that one window may need.
std::int64_t Recorder::limit_on(const Device& device) const {
  if (device.in_host_memory()) return options_.memory_limit;
  return std::max(options_.memory_limit, device.limits().memory_bytes / 4 * 3);
}

Verdict Recorder::bring_to_host(Argument& argument) {
  if (argument.spread || argument.value.in_host_memory()) return yes();
  const auto queue = argument.value.buffer().device->queue();
  HEDDLE_TRY(Array here, to_host(*queue, argument.value));
  counts_.bytes_back += here.type().bytes();
  moved_.push_back({argument.of, argument.value, DeviceValue(here)});
  argument.there = argument.value.take_buffer();
  argument.value = DeviceValue(std::move(here));
  return yes();
}

// Where it is there already, nothing is copied. The copy is waited for: the host's memory may be
// Python's, which the device's own thread could not give back while this one holds Python's lock.
// Single numbers go with the run, out of memory of ours.
Verdict Recorder::bring_to(Device& device, Argument& argument) {
  if (!argument.value.in_host_memory() && argument.value.buffer().device == &device) return yes();
  HEDDLE_TRY_VOID(bring_to_host(argument));
  if (device.in_host_memory()) return yes();
  if (argument.type().rank() == 0) {
    argument.value = DeviceValue(Array(argument.type(), argument.value.array().bytes()));
    return yes();
  }
  if (argument.there.device == &device) {
    argument.value = DeviceValue(argument.type(), std::move(argument.there));
    return yes();
  }
  const auto queue = device.queue();
  HEDDLE_TRY(DeviceValue there, to_device(*queue, argument.value));
  HEDDLE_TRY_VOID(queue->finish());
  counts_.bytes_there += argument.type().bytes();
  moved_.push_back({argument.of, argument.value, there});
  argument.value = std::move(there);
  return yes();
}

// Stores that still have what was moved have it in both places.
void Recorder::keep_moved() {
  for (Moved& one : moved_) {
    const StorePtr store = one.of.lock();
    if (!store || store->pending_ || !store->whole_) continue;
    const DeviceValue& held = store->memory_;
    if (held.in_host_memory() != one.was.in_host_memory()) continue;
    if (held.in_host_memory()) {
      if (held.array().bytes().data() == one.was.array().bytes().data())
        store->there_ = one.is.take_buffer();
    } else if (held.buffer().address == one.was.buffer().address) {
      store->there_ = one.was.take_buffer();
      store->memory_ = std::move(one.is);
      ++store->generation_;
    }
  }
  moved_.clear();
}

}  // namespace heddle
