#include "record/background.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_set>

#include "base/fork.h"
#include "base/watched.h"
#include "heddle/hash.h"
#include "heddle/log.h"

namespace heddle::record {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostWaiting = 8;
constexpr double kAssumedSeconds = 1e-3;  // of one op, before the first program was compiled
constexpr double kStartSeconds = 0.1;     // that the first one takes beside it

struct Job {
  Program program;
  Target target;
  std::uint64_t key = 0;
};

std::uint64_t key_of(const Program& program, const Target& target) {
  std::uint64_t key = program.hash();
  for (bool donated : target.options.donated) key = hash_combine(key, donated ? 1 : 2);
  return key;
}

}  // namespace

struct Background::State {
  explicit State(std::shared_ptr<ExecutableCache> to) : cache(std::move(to)) {}

  const std::shared_ptr<ExecutableCache> cache;
  mutable std::mutex mutex;
  std::condition_variable idle;
  std::deque<Job> waiting;
  std::unordered_set<std::uint64_t> asked;  // waiting, under way, or failed
  bool running = false, stopped = false;
  std::stop_source stop;
  double seconds_per_op = kAssumedSeconds, start_seconds = kStartSeconds;

  void took(const Program& program, double seconds) {
    const auto ops = static_cast<double>(std::max<std::size_t>(program.op_count(), 1));
    const double of_ops = std::max(0.0, seconds - start_seconds);
    seconds_per_op = (seconds_per_op + of_ops / ops) / 2;
    start_seconds = 0;
  }

  // In a child of fork: jobs that wait are begun with the next one.
  const AfterFork after_fork{[this] {
    make_anew(mutex);
    make_anew(idle);
    running = false;
  }};

  void work() {
    while (work_once()) {
    }
  }

  // False: there is nothing left, and nobody runs.
  bool work_once() {
    const ForkHold hold;
    std::unique_lock lock(mutex);
    if (waiting.empty() || stopped) {
      running = false;
      idle.notify_all();
      return false;
    }
    Job job = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    const auto start = Clock::now();
    // Of no account to what comes out, nor to who finds it.
    job.target.options.stop = [token = stop.get_token()] { return token.stop_requested(); };
    std::string failure;
    try {
      if (const auto made = cache->compile(job.program, job.target); !made) failure = made.reason();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    lock.lock();
    if (failure.empty()) {
      asked.erase(job.key);
      took(job.program, seconds);
    } else if (!stopped) {
      log(1, "a window of array calls was not compiled: {}", failure);
    }
    return true;
  }
};

Background::Background(std::shared_ptr<ExecutableCache> cache)
    : state_(std::make_shared<State>(std::move(cache))) {}

void Background::compile(Program program, Target target) {
  const std::lock_guard lock(state_->mutex);
  const std::uint64_t key = key_of(program, target);
  if (state_->stopped || state_->waiting.size() >= kMostWaiting) return;
  if (!state_->asked.insert(key).second) return;
  state_->waiting.push_back({std::move(program), std::move(target), key});
  if (state_->running) return;
  state_->running = true;
  auto over = std::make_shared<std::atomic<bool>>(false);
  try {
    leave_thread(std::thread([state = state_, over]() mutable {
                   state->work();
                   state.reset();
                   *over = true;
                 }),
                 over);
  } catch (const std::system_error& error) {
    // A thread takes memory too: such windows go on call by call, and the next one asks again.
    state_->running = false;
    state_->waiting.pop_back();
    state_->asked.erase(key);
    log(1, "a window of array calls is not compiled, as there is no thread for it: {}",
        error.what());
  }
}

double Background::seconds(double ops) const {
  const std::lock_guard lock(state_->mutex);
  return state_->start_seconds + state_->seconds_per_op * ops;
}

void Background::took(const Program& program, double seconds) {
  const std::lock_guard lock(state_->mutex);
  state_->took(program, seconds);
}

void Background::wait() {
  std::unique_lock lock(state_->mutex);
  state_->idle.wait(lock, [&] { return !state_->running; });
}

void Background::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->waiting.clear();
  state_->stop.request_stop();
}

}  // namespace heddle::record
