#include "pjrt/worker.h"

#include <chrono>

namespace heddle::pjrt {

namespace {

// A thread that sleeps takes some 50 microseconds to wake: it looks for the next task for that
// long.
constexpr std::chrono::microseconds kLookFor{50};

}  // namespace

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  change_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Worker::add(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    pending_.fetch_add(1, std::memory_order_release);
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  }
  change_.notify_one();
}

void Worker::work() {
  for (;;) {
    const auto until = std::chrono::steady_clock::now() + kLookFor;
    while (is_idle() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    Task task;
    {
      std::unique_lock lock(mutex_);
      change_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
    task = nullptr;  // what it held goes before anybody is told that it is over
    pending_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace heddle::pjrt
