// Code that may still be on its way, of any device. A device that runs a kernel takes its code
// where it is there; where it is not, it waits for it or interprets the kernel.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heddle/device.h"

namespace heddle {

// The code of one kernel. All of it may be used from several threads at once.
class LazyCode {
 public:
  explicit LazyCode(std::shared_ptr<const DeviceCode> code)
      : code_(std::move(code)), state_(State::there) {}
  LazyCode(Kernel kernel, Device& device) : kernel_(std::move(kernel)), device_(&device) {}

  // Null while it is not there, or where it cannot be made.
  const DeviceCode* get() const {
    return state_.load(std::memory_order_acquire) == State::there ? code_.get() : nullptr;
  }
  // Makes it, where nobody has begun to.
  void make();
  // Comes back when it is there or has failed; makes it where nobody has begun to.
  void wait();
  // Why there is none; empty unless it has failed.
  std::string failure() const {
    return state_.load(std::memory_order_acquire) == State::failed ? why_ : "";
  }

 private:
  enum class State : int { open, under_way, there, failed };
  Kernel kernel_;
  Device* device_ = nullptr;
  std::shared_ptr<const DeviceCode> code_;  // written before state_ says so, and never again
  std::string why_;                         // the same
  std::atomic<State> state_ = State::open;
};

class AfterFork;

// Threads that make code until all of it is there. Destroying it waits for the kernels that are
// under way, and leaves the others.
class BackgroundCode {
 public:
  BackgroundCode(std::vector<std::shared_ptr<LazyCode>> codes, int threads);
  ~BackgroundCode();
  BackgroundCode(const BackgroundCode&) = delete;
  BackgroundCode& operator=(const BackgroundCode&) = delete;

  // Until all is there; the first failure.
  Verdict wait();

 private:
  void work();
  Verdict wait_for(LazyCode& code);

  const std::vector<std::shared_ptr<LazyCode>> codes_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> warned_ = false;
  std::vector<std::thread> threads_;
  std::unique_ptr<AfterFork> after_fork_;
};

}  // namespace heddle
