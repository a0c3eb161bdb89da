#include "device/spare_queues.h"

namespace heddle {

namespace {

constexpr std::size_t kMostIdle = 8;

}  // namespace

SpareQueues::Lease SpareQueues::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto queue = std::move(idle_.back());
      idle_.pop_back();
      return {*this, std::move(queue)};
    }
  }
  return {*this, device_.queue()};
}

// One that has failed does nothing more.
void SpareQueues::give_back(std::unique_ptr<Queue> queue) {
  if (!queue->wait(Event())) return;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(queue));
}

}  // namespace heddle
