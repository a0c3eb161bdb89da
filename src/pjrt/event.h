// Events: something is over, well or not. Shared by those who wait and those who tell.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "pjrt/error.h"

namespace heddle::pjrt {

class EventState {
 public:
  // Runs with no lock held, on the thread that sets the event, or at once where it is set.
  using Callback = std::function<void(const Status&)>;

  bool is_set() const { return set_.load(std::memory_order_acquire); }
  void set(Status status = {});
  void then(Callback callback);
  const Status& wait();
  // Only where it is set.
  const Status& status() const { return status_; }

 private:
  std::atomic<bool> set_ = false;
  std::mutex mutex_;
  std::condition_variable change_;
  Status status_;
  std::vector<Callback> callbacks_;
};

using EventRef = std::shared_ptr<EventState>;

inline EventRef new_event() { return std::make_shared<EventState>(); }
// One that has passed; the same for all who need one.
EventRef passed_event();

// What the caller holds. It may be destroyed while the event is pending.
struct EventHandle {
  EventRef state;
};
EventHandle* handle_of(EventRef state);

}  // namespace heddle::pjrt
