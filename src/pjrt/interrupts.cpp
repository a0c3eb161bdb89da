#include "pjrt/interrupts.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

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
  if (gettid() != getpid()) return;
  struct sigaction action = {};
  if (sigaction(SIGINT, nullptr, &action) != 0 || !has_handler(action)) return;
  previous = action;
  action.sa_sigaction = count;
  action.sa_flags |= SA_SIGINFO;
  sigaction(SIGINT, &action, nullptr);
}

std::uint64_t interrupts() { return pressed.load(std::memory_order_relaxed); }

void interrupt_all() { pressed.fetch_add(2, std::memory_order_relaxed); }

}  // namespace heddle::pjrt

extern "C" void heddle_pjrt_interrupt() { heddle::pjrt::interrupt_all(); }
