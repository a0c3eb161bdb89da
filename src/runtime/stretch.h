// Stretches of steps that a queue has kept, as graphs of a GPU are, and when they may be done
// again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "heddle/queue.h"
#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle::runtime {

// Finds the stretches of a list and of all inside of it, and numbers them; how many there are.
std::size_t find_stretches(StepList& list, const std::vector<Slot>& slots);

// What one run state has kept of one stretch: by where its slots lay.
class StretchMemory {
 public:
  enum class Next : std::uint8_t {
    run,     // step by step: it is the first time that all lies there
    record,  // the second: keep() it
    replay,  // kept() is there
  };
  Next next(const Stretch& stretch, const std::vector<DeviceAddress>& now);

  // Keeps what `work` puts on the queue; null where that cannot be kept, now or ever.
  const Recording* keep(Queue& queue, const std::function<Verdict()>& work);
  const Recording* kept() const { return places_[at_].recording.get(); }

 private:
  struct Place {
    std::vector<DeviceAddress> addresses;
    std::shared_ptr<const Recording> recording = {};
    std::uint64_t used = 0;
  };
  std::vector<Place> places_;
  std::vector<DeviceAddress> addresses_;  // of the run at hand
  std::size_t at_ = 0;
  std::uint64_t turns_ = 0;
  bool is_refused_ = false;
};

}  // namespace heddle::runtime
