#include "comm/progress.h"

#include <algorithm>
#include <system_error>

namespace heddle::comm {

namespace {

// Between two looks: soon at first, then rarely, since others may be late by any time.
constexpr std::chrono::microseconds kFirstSleep{20}, kLongestSleep{1000};

}  // namespace

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  change_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::look_after(RequestId request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    if (!thread_.joinable()) {
      try {
        thread_ = std::thread([this] { live(); });
      } catch (const std::system_error&) {
        requests_.clear();  // without a thread the wait does all
      }
    }
  }
  change_.notify_all();
}

void Progress::forget() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

void Progress::advance_all() {
  std::erase_if(requests_, [&](RequestId request) {
    const Expected<bool> over = advance_(request);
    return !over || *over;
  });
}

void Progress::live() {
  std::unique_lock lock(mutex_);
  auto sleep = kFirstSleep;
  while (!stopping_) {
    if (requests_.empty()) {
      change_.wait(lock, [&] { return stopping_ || !requests_.empty(); });
      sleep = kFirstSleep;
      continue;
    }
    advance_all();
    if (requests_.empty()) continue;
    change_.wait_for(lock, sleep);
    sleep = std::min(sleep * 2, kLongestSleep);
  }
}

}  // namespace heddle::comm
