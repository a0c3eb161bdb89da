#include "base/fork.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace heddle {

namespace {

// What is being compiled takes about as long at most; a process that waits for ever is worse than
// a child that cannot compile.
constexpr std::chrono::seconds kLongestWait{10};

// Never destroyed: threads may hold on until the process ends.
struct Forks {
  std::mutex mutex;
  std::condition_variable change;
  int holds = 0;
  int forking = 0;
  std::list<std::function<void()>> in_child;

  static Forks& get() {
    static auto* const only = new Forks;
    return *only;
  }
  Forks() { pthread_atfork(prepare, in_parent, in_the_child); }

  static void prepare();
  static void in_parent();
  static void in_the_child();
};

thread_local int own_holds = 0;

// Comes back with the mutex, so that nobody else has it in the child.
void Forks::prepare() {
  Forks& forks = get();
  std::unique_lock lock(forks.mutex);
  ++forks.forking;
  forks.change.wait_for(lock, kLongestWait, [&] { return forks.holds <= own_holds; });
  lock.release();
}

void Forks::in_parent() {
  Forks& forks = get();
  --forks.forking;
  forks.mutex.unlock();
  forks.change.notify_all();
}

void Forks::in_the_child() {
  Forks& forks = get();
  make_anew(forks.mutex);
  make_anew(forks.change);
  forks.holds = own_holds;
  forks.forking = 0;
  for (const auto& work : forks.in_child) work();
}

}  // namespace

// Others that hold on may be waiting for this very thread: it waits for a fork only where nobody
// does.
ForkHold::ForkHold() {
  Forks& forks = Forks::get();
  std::unique_lock lock(forks.mutex);
  forks.change.wait(lock, [&] { return forks.forking == 0 || forks.holds > 0; });
  ++forks.holds;
  ++own_holds;
}

ForkHold::~ForkHold() {
  Forks& forks = Forks::get();
  const std::lock_guard lock(forks.mutex);
  --forks.holds;
  --own_holds;
  forks.change.notify_all();
}

AfterFork::AfterFork(std::function<void()> in_child) {
  Forks& forks = Forks::get();
  const std::lock_guard lock(forks.mutex);
  at_ = forks.in_child.insert(forks.in_child.end(), std::move(in_child));
}

AfterFork::~AfterFork() {
  Forks& forks = Forks::get();
  const std::lock_guard lock(forks.mutex);
  forks.in_child.erase(at_);
}

}  // namespace heddle
