#include "comm/monitor.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>

namespace heddle::comm {

namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr double kTicksPerSecond = 20;
// A process that is stopped says nothing any more; one that runs may be kept from doing so by
// others.
constexpr double kStoppedShare = 0.5, kRunningShare = 2;
// Where all are stopped and go on, some do so a moment before others.
constexpr int kLeastLooks = 5;
// Launchers end ranks with a signal as soon as one has died, and with force a second later.
constexpr std::chrono::milliseconds kToFindOut{250}, kToEnd{400};

std::atomic<int> told_to_end = 0;  // by a signal, to the monitor's thread
static_assert(std::atomic<int>::is_always_lock_free);

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
    if (!board_->failed() && board_->launcher_is_gone())
      board_->fail("heddle launch, which had started the ranks, is gone");
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

void Monitor::look_at(int peer) {
  std::string trouble = board_->trouble_of(peer);
  if (trouble.empty()) trouble = silence_of(peer);
  if (!trouble.empty() && board_->cell(peer).phase.load() != Phase::ended)
    board_->lose(peer, trouble);
}

// Time of a rank that runs is counted in ticks of our own: after a pause of this process, or on a
// busy machine, the others get theirs.
std::string Monitor::silence_of(int peer) {
  const RankCell& its = board_->cell(peer);
  const bool joined = its.pid.load() != 0;
  if (its.phase.load() == Phase::ended || (!joined && its.child.load() == 0)) return "";
  Seen& seen = seen_[static_cast<std::size_t>(peer)];
  const auto now = std::chrono::steady_clock::now();
  if (const std::uint64_t beat = its.beat.load(std::memory_order_relaxed); beat != seen.beat) {
    seen = {.beat = beat, .since = now};
    return "";
  }
  ++seen.ticks;
  seen.stopped = board_->is_stopped(peer) ? seen.stopped + 1 : 0;
  const double silent = std::chrono::duration<double>(now - seen.since).count();
  if (silent > kStoppedShare * seconds_ && seen.stopped >= kLeastLooks)
    return fmt::format("it has given no sign for {:.1f} s: its process is stopped", silent);
  if (joined && seen.ticks > kRunningShare * seconds_ * kTicksPerSecond)
    return fmt::format("it has given no sign for {:.1f} s, though its process is there", silent);
  return "";
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
  board_->fail(fmt::format("rank {} of {} was told to end (signal {}) in step {} of its program",
                           rank_, board_->ranks(), static_cast<int>(told_to_end),
                           mine.step.load()));
  std::unique_lock lock(mutex_);
  if (change_.wait_for(lock, kToEnd, [&] { return stopping_; })) return;
  say(fmt::format("heddle: {}\n  rank {} was in step {} of its program, after {} collectives\n",
                  board_->failure(), rank_, mine.step.load(), mine.collectives.load()));
  ::_exit(1);
}

}  // namespace heddle::comm
