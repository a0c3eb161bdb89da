#include "pjrt/event.h"

namespace heddle::pjrt {

void EventState::set(Status status) {
  std::vector<Callback> callbacks;
  {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    set_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
  }
  change_.notify_all();
  for (const Callback& callback : callbacks) callback(status_);
}

void EventState::then(Callback callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_set()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback(status_);
}

const Status& EventState::wait() {
  if (!is_set()) {
    std::unique_lock lock(mutex_);
    change_.wait(lock, [&] { return is_set(); });
  }
  return status_;
}

EventRef passed_event() {
  static const EventRef passed = [] {
    EventRef event = new_event();
    event->set();
    return event;
  }();
  return passed;
}

EventHandle* handle_of(EventRef state) {
  return std::make_unique<EventHandle>(EventHandle{std::move(state)}).release();
}

}  // namespace heddle::pjrt
