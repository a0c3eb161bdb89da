// Machine code that may still be on its way. Whoever runs a kernel takes its code where it is
// there, and interprets the kernel where it is not.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/cpu/jit.h"

namespace heddle {

using MakeCode = std::function<Expected<std::shared_ptr<const CpuKernel>>(const Kernel&)>;

// The code of one kernel. All of it may be used from several threads at once.
class LazyCode {
 public:
  explicit LazyCode(std::shared_ptr<const CpuKernel> code)
      : code_(std::move(code)), state_(State::there) {}
  LazyCode(Kernel kernel, MakeCode make) : kernel_(std::move(kernel)), make_(std::move(make)) {}

  // Null while it is not there, or where it cannot be made.
  const CpuKernel* get() const {
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
  MakeCode make_;
  std::shared_ptr<const CpuKernel> code_;  // written before state_ says so, and never again
  std::string why_;                        // the same
  std::atomic<State> state_ = State::open;
};

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
};

}  // namespace heddle
