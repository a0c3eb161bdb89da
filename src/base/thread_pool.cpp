#include "heddle/thread_pool.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "base/cores.h"
#include "base/fork.h"
#include "heddle/log.h"

namespace heddle {

namespace {

constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;
constexpr std::uint64_t kInside = kOpen - 1;
constexpr std::uint64_t kNextLoop = std::uint64_t{1} << 32;

// How long a worker looks for the next loop before it sleeps: loops of one program follow within
// microseconds, and waking costs tens of them.
constexpr std::chrono::microseconds kSpin{50};

// Set in a worker, and in a caller while its loop runs: loops inside run on the spot.
thread_local bool inside_a_loop = false;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Spins until `done`; lets others have the core where it takes long.
template <typename Done>
void spin_until(Done done) {
  for (int i = 0; !done(); ++i)
    if (i < 4096)
      pause_briefly();
    else
      std::this_thread::yield();
}

int cores() {
  const char* wanted = std::getenv("HEDDLE_THREADS");
  if (wanted != nullptr && *wanted != '\0') {
    const auto count = parse_thread_count(wanted);
    if (count) return *count;
    warn("{}", count.reason());
  }
  return usable_cores();
}

}  // namespace

Expected<int> parse_thread_count(const std::string& text) {
  int count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc{} || stop != end || count < 1 || count > 1024)
    return reason("HEDDLE_THREADS={} is no number of threads: write 1 to 1024", text);
  return count;
}

ThreadPool& ThreadPool::shared() {
  static ThreadPool pool(cores());
  return pool;
}

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(threads, 1)),
      after_fork_(std::make_unique<AfterFork>([this] { forget_workers(); })) {
  start();
}

void ThreadPool::start() {
  for (int worker = 1; worker < threads_; ++worker)
    workers_.emplace_back([this, worker] { live(worker); });
}

void ThreadPool::forget_workers() {
  make_anew(workers_);
  make_anew(callers_);
  make_anew(failure_mutex_);
  make_anew(failure_);
  make_anew(sleep_mutex_);
  make_anew(sleep_);
  sleepers_ = 0;
  state_ = 0;
}

ThreadPool::~ThreadPool() {
  after_fork_.reset();
  stopping_ = true;
  {
    const std::lock_guard lock(sleep_mutex_);
  }
  sleep_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(const Job& job) {
  if (job.chunks <= 0) return;
  std::unique_lock turn(callers_, std::defer_lock);
  if (job.chunks == 1 || threads_ == 1 || inside_a_loop || !turn.try_lock()) return run_alone(job);
  if (workers_.empty()) start();
  inside_a_loop = true;
  job_ = job;
  failed_ = false;
  next_.store(0, std::memory_order_relaxed);
  // Nobody is inside: the loop before has waited for that.
  state_ = (state_.load() & ~(kOpen | kInside)) + kNextLoop + kOpen;
  if (sleepers_ > 0) {
    {
      const std::lock_guard lock(sleep_mutex_);
    }
    sleep_.notify_all();
  }
  work_off(job, 0);
  state_.fetch_and(~kOpen);
  spin_until([&] { return (state_.load(std::memory_order_acquire) & kInside) == 0; });
  inside_a_loop = false;
  if (!failed_) return;
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  turn.unlock();
  std::rethrow_exception(failure);
}

void ThreadPool::run_alone(const Job& job) {
  for (std::int64_t chunk = 0; chunk < job.chunks; ++chunk) job.call(job.context, chunk, 0);
}

void ThreadPool::work_off(const Job& job, int worker) {
  while (!failed_.load(std::memory_order_relaxed)) {
    const std::int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= job.chunks) return;
    try {
      job.call(job.context, chunk, worker);
    } catch (...) {
      keep_failure();
    }
  }
}

void ThreadPool::keep_failure() {
  const std::lock_guard lock(failure_mutex_);
  if (!failed_) failure_ = std::current_exception();
  failed_ = true;
}

void ThreadPool::live(int worker) {
  inside_a_loop = true;
  std::uint64_t seen = 0;
  while (await_change(seen)) {
    seen = state_.load() & ~(kOpen | kInside);
    if (!enter()) continue;
    work_off(job_, worker);
    state_.fetch_sub(1, std::memory_order_release);
  }
}

// Counts itself in where the loop is still open; from then on the loop waits for it to leave.
bool ThreadPool::enter() {
  std::uint64_t state = state_.load();
  while ((state & kOpen) != 0)
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) return true;
  return false;
}

// Waits for a loop with another number than `seen`; false: the pool ends.
bool ThreadPool::await_change(std::uint64_t seen) {
  const auto changed = [&] {
    return stopping_ || (state_.load(std::memory_order_acquire) & ~(kOpen | kInside)) != seen;
  };
  const auto until = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (changed()) return !stopping_;
      pause_briefly();
    }
    // On a busy machine the loop's caller may be waiting for this very core.
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < until);
  std::unique_lock lock(sleep_mutex_);
  ++sleepers_;
  sleep_.wait(lock, changed);
  --sleepers_;
  return !stopping_;
}

}  // namespace heddle
