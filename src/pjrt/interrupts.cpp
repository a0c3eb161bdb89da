#include "pjrt/interrupts.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "pjrt/hooks.h"

namespace heddle::pjrt {

namespace {

std::atomic<std::uint64_t> pressed = 0;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a signal's handler counts");

struct sigaction previous = {};  // changes only while ours is not installed

void count(int signal, siginfo_t* info, void* context) {
  pressed.fetch_add(1, std::memory_order_relaxed);
  if ((previous.sa_flags & SA_SIGINFO) != 0)
    previous.sa_sigaction(signal, info, context);
  else
    previous.sa_handler(signal);
}

// Where there is no handler, the signal is ignored or ends the process.
bool has_handler(const struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction != count;
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

}  // namespace

void watch_interrupts() {
  // Python sets handlers in this thread only, so that none is set meanwhile.
  if (gettid() == getpid()) watch_interrupts_with_gil();
}

void watch_interrupts_with_gil() {
  struct sigaction action = {};
  if (sigaction(SIGINT, nullptr, &action) != 0 || !has_handler(action)) return;
  previous = action;
  action.sa_sigaction = count;
  action.sa_flags |= SA_SIGINFO;
  sigaction(SIGINT, &action, nullptr);
}

std::uint64_t interrupts() { return pressed.load(std::memory_order_relaxed); }

void interrupt_all() { pressed.fetch_add(2, std::memory_order_relaxed); }

namespace {

std::atomic<std::uint64_t> endings = 0;

// How much is being compiled. Never destroyed: a thread may come out of it at the very end.
struct Compiling {
  std::mutex mutex;
  std::condition_variable change;
  int count = 0;
};

Compiling& compiling() {
  static auto* const all = new Compiling;
  return *all;
}

}  // namespace

UnderWay::UnderWay() : interrupts_(interrupts()), endings_(endings) {
  const std::lock_guard lock(compiling().mutex);
  ++compiling().count;
}

UnderWay::~UnderWay() {
  const std::lock_guard lock(compiling().mutex);
  --compiling().count;
  compiling().change.notify_all();
}

bool UnderWay::is_stopped() const { return interrupts() != interrupts_ || endings != endings_; }

namespace {

std::terminate_handler terminate_before = nullptr;

// Before 3.14, Python ends a thread that asks for its turn too late by unwinding its stack. Some
// functions of jaxlib, as block_until_ready, let nothing through, and the process would be aborted.
// Later Pythons let such a thread sleep.
[[noreturn]] void sleep_where_python_is_over() {
  const bool unwinds = std::current_exception() == nullptr;  // it is none of C++
  while (unwinds && gettid() != getpid()) pause();
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

}  // namespace

void end_of_python() {
  ++endings;
  terminate_before = std::set_terminate(sleep_where_python_is_over);
  std::unique_lock lock(compiling().mutex);
  compiling().change.wait(lock, [] { return compiling().count == 0; });
}

}  // namespace heddle::pjrt

extern "C" {
void heddle_pjrt_watch() { heddle::pjrt::watch_interrupts_with_gil(); }

void heddle_pjrt_end(int by_ctrl_c) {
  if (by_ctrl_c != 0) heddle::pjrt::interrupt_all();
  heddle::pjrt::end_of_python();
}
}
