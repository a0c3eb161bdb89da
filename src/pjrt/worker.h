// Worker: one thread that does tasks in the order in which they came.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/fork.h"

namespace heddle::pjrt {

class Worker {
 public:
  using Task = std::function<void()>;

  Worker() = default;
  // Lets tasks know that it ends, does what is left, then ends.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void add(Task task);
  // Nothing waits and nothing runs: what the caller does now comes after all that was added.
  bool is_idle() const { return pending_.load(std::memory_order_acquire) == 0; }
  bool is_ending() const { return ending_.load(std::memory_order_relaxed); }

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable change_;
  std::deque<Task> tasks_;
  std::atomic<std::size_t> pending_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread thread_;  // begun with the first task
  // What waits in a child of fork is never done: it belongs to the parent.
  const AfterFork after_fork_{[this] {
    make_anew(mutex_);
    make_anew(change_);
    make_anew(tasks_);
    make_anew(thread_);
    pending_ = 0;
  }};
};

}  // namespace heddle::pjrt
