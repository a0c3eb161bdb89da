#include "comm/monitor.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

namespace heddle::comm {

namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr double kTicksPerSecond = 20;
// Launchers end ranks with a signal as soon as one has died, and with force a second later.
constexpr std::chrono::milliseconds kToFindOut{250}, kToEnd{400};

volatile std::sig_atomic_t told_to_end = 0;

void on_signal(int number) { told_to_end = number; }

std::uint64_t nanoseconds(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void set_handler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
}

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(STDERR_FILENO, text.data(), text.size());
    if (done <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace

Monitor::Monitor(std::shared_ptr<Board> board, int rank, double seconds)
    : board_(std::move(board)),
      rank_(rank),
      seconds_(seconds),
      seen_(static_cast<std::size_t>(board_->ranks())) {
  board_->cell(rank_).pid = ::getpid();
  set_handler(on_signal);
  thread_ = std::thread([this] { live(); });
}

Monitor::~Monitor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  change_.notify_all();
  thread_.join();
  set_handler(SIG_DFL);
  if (told_to_end != 0) ::raise(SIGTERM);
}

void Monitor::live() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    beat();
    for (int r = 0; r < board_->ranks() && !board_->failed(); ++r)
      if (r != rank_) look_at(r);
    if (told_to_end != 0 || (ending_ && board_->failed())) last_words();
    lock.lock();
    change_.wait_for(lock, kTick, [&] { return stopping_; });
  }
}

void Monitor::beat() {
  RankCell& mine = board_->cell(rank_);
  mine.beat.fetch_add(1, std::memory_order_relaxed);
  // What this thread itself takes is no sign of work.
  mine.cpu.store(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - nanoseconds(CLOCK_THREAD_CPUTIME_ID),
                 std::memory_order_relaxed);
}

// Time is counted in ticks of our own: after a pause of this process the others get theirs.
void Monitor::look_at(int peer) {
  const RankCell& its = board_->cell(peer);
  std::string trouble = board_->trouble_of(peer);
  const Phase phase = its.phase.load();
  if (its.pid.load() == 0 || phase == Phase::ended || phase == Phase::absent) {
    if (trouble.empty()) return;
  }
  Seen& seen = seen_[static_cast<std::size_t>(peer)];
  const std::uint64_t beat = its.beat.load(std::memory_order_relaxed);
  seen.ticks = beat == seen.beat ? seen.ticks + 1 : 0;
  seen.beat = beat;
  if (trouble.empty() && seen.ticks > seconds_ * kTicksPerSecond)
    trouble = fmt::format("it has given no sign for {:.1f} s{}", seen.ticks / kTicksPerSecond,
                          board_->is_stopped(peer) ? ": its process is stopped" : "");
  if (!trouble.empty() && its.phase.load() != Phase::ended)
    board_->fail(fmt::format("rank {} of {} is lost in step {}, after {} collectives: {}", peer,
                             board_->ranks(), its.step.load(), its.collectives.load(), trouble));
}

// Somebody ends this process, most likely because another rank has died. The run is told why and
// has a moment to end by itself.
void Monitor::last_words() {
  const auto until = std::chrono::steady_clock::now() + kToFindOut;
  while (!board_->failed() && std::chrono::steady_clock::now() < until) {
    for (int r = 0; r < board_->ranks(); ++r)
      if (r != rank_) look_at(r);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const RankCell& mine = board_->cell(rank_);
  board_->fail(fmt::format("rank {} of {} was told to end (signal {}) in step {}", rank_,
                           board_->ranks(), static_cast<int>(told_to_end), mine.step.load()));
  std::unique_lock lock(mutex_);
  if (change_.wait_for(lock, kToEnd, [&] { return stopping_; })) return;
  say(fmt::format("heddle: {}\n  rank {} was in step {}, after {} collectives\n", board_->failure(),
                  rank_, mine.step.load(), mine.collectives.load()));
  ::_exit(1);
}

}  // namespace heddle::comm
