// Work without the GIL, which Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <chrono>

namespace heddle::python {

namespace nb = nanobind;

// Only the thread that the process began with handles Python's signals. Others need not ask, and
// must not: where Python ends meanwhile, they would be ended in the middle of what they do.
inline bool handles_signals() { return gettid() == getpid(); }

// Lets Python handle signals now and then, from the thread that called. Says yes when a handler has
// raised: the exception waits in the thread until throw_pending().
class Signals {
 public:
  bool raised() {
    if (!handles_signals()) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kPause) return raised_;
    last_ = now;
    const nb::gil_scoped_acquire gil;
    raised_ = raised_ || PyErr_CheckSignals() != 0;
    return raised_;
  }

  // With the GIL.
  void throw_pending() const {
    if (raised_) throw nb::python_error();
  }

 private:
  static constexpr std::chrono::milliseconds kPause{50};

  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool raised_ = false;
};

}  // namespace heddle::python
