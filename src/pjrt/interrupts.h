// Ctrl-C and the end of Python, as runs and compiling see them. Python raises KeyboardInterrupt
// where it waits; what is under way on another thread has to be told by itself.
#pragma once

#include <cstdint>

namespace heddle::pjrt {

// Counts SIGINT from now on, and then lets its handler have it. To be called before a long run:
// whenever a handler is set in Python, the one that counts is replaced.
void watch_interrupts();
// The same from any thread, where the caller has the GIL: Python sets handlers only with it.
void watch_interrupts_with_gil();
// How often Ctrl-C has been pressed while it was watched.
std::uint64_t interrupts();
// Counts as pressing it twice, which ends all runs.
void interrupt_all();

// Compiling that is under way, from when this was made.
class UnderWay {
 public:
  UnderWay();
  ~UnderWay();
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  // By Ctrl-C, or by the end of Python.
  bool is_stopped() const;

 private:
  std::uint64_t interrupts_, endings_;
};

// Python ends: this ends all compiling, and waits until jaxlib has heard of that. From then on a
// thread that jaxlib lets ask Python for its turn sleeps, and does not end the process.
void end_of_python();

}  // namespace heddle::pjrt
