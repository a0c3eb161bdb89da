// SpareQueues: queues of one device for copies that come from any thread, now and then. Making one
// takes longer than most copies.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "heddle/device.h"

namespace heddle {

class SpareQueues {
 public:
  explicit SpareQueues(Device& device) : device_(device) {}
  Device& device() const { return device_; }

  // One for the caller alone, until it lets go of it.
  class Lease {
   public:
    Lease(SpareQueues& home, std::unique_ptr<Queue> queue)
        : home_(home), queue_(std::move(queue)) {}
    ~Lease() { home_.give_back(std::move(queue_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Queue& operator*() const { return *queue_; }
    Queue* operator->() const { return queue_.get(); }

   private:
    SpareQueues& home_;
    std::unique_ptr<Queue> queue_;
  };
  Lease take();

 private:
  void give_back(std::unique_ptr<Queue> queue);

  Device& device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Queue>> idle_;
};

}  // namespace heddle
