#include "comm/launch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/cores.h"
#include "comm/board.h"
#include "comm/process_transport.h"
#include "heddle/transport.h"

namespace heddle::comm {

namespace {

using Clock = std::chrono::steady_clock;

// What ranks have to end by themselves after one has failed; then they are told to, then forced.
constexpr std::chrono::milliseconds kGrace{1500}, kForce{500}, kLook{50};

// One stream of a rank; whole lines go on, each with the rank in front.
class Stream {
 public:
  Stream(int from, const std::function<void(std::string_view)>& write, std::string prefix)
      : from_(from), write_(write), prefix_(std::move(prefix)) {}
  int file() const { return from_; }
  bool open() const { return from_ >= 0; }

  void pump() {
    char block[1 << 16];
    const ssize_t got = ::read(from_, block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return close();
    kept_.append(block, static_cast<std::size_t>(got));
    std::string lines;
    std::size_t start = 0;
    for (std::size_t end; (end = kept_.find('\n', start)) != std::string::npos; start = end + 1)
      lines += prefix_ + kept_.substr(start, end - start + 1);
    kept_.erase(0, start);
    if (!lines.empty()) write_(lines);
  }

  void close() {
    if (!open()) return;
    if (!kept_.empty()) write_(prefix_ + kept_ + "\n");
    ::close(from_);
    from_ = -1;
  }

 private:
  int from_;
  const std::function<void(std::string_view)>& write_;
  std::string prefix_, kept_;
};

struct Rank {
  pid_t pid = -1;
  int status = 0;
  bool ended = false;
  bool by_us = false;  // that it was told to end
};

std::string how(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

class Launch {
 public:
  explicit Launch(const LaunchRequest& request) : request_(request) {}
  ~Launch() {
    if (file_ >= 0) ::close(file_);
  }

  Expected<LaunchEnd> run() {
    HEDDLE_TRY(file_, create_board_file(request_.ranks));
    HEDDLE_TRY(const auto page, map_board(file_, request_.ranks));
    board_ = std::make_unique<Board>(page, request_.ranks, true);
    board_->header().launcher = ::getpid();
    for (int r = 0; r < request_.ranks; ++r) HEDDLE_TRY_VOID(start(r));
    while (!all_ended() || any_open()) {
      pump();
      reap();
      end_the_rest();
    }
    for (Stream& stream : streams_) stream.close();
    return report();
  }

 private:
  Verdict start(int rank) {
    int out[2], err[2];
    if (::pipe(out) != 0 || ::pipe(err) != 0)
      return reason("rank {} cannot be started: {}", rank, std::strerror(errno));
    std::vector<char*> words;
    for (const std::string& word : request_.command)
      words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t launcher = ::getpid(), pid = ::fork();
    if (pid < 0) return reason("rank {} cannot be started: {}", rank, std::strerror(errno));
    if (pid == 0) {
      end_with(launcher);
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      for (const int file : {out[0], out[1], err[0], err[1]}) ::close(file);
      for (const Stream& stream : streams_) ::close(stream.file());
      become(rank, words.data());
    }
    ::close(out[1]);
    ::close(err[1]);
    ranks_.push_back({.pid = pid});
    board_->cell(rank).child = pid;  // the others look after it until it has joined
    const std::string prefix = fmt::format("[{}] ", rank);
    const bool as_it_is = request_.reports_json && rank == 0;
    streams_.emplace_back(out[0], request_.write_output, as_it_is ? "" : prefix);
    streams_.emplace_back(err[0], request_.write_error, prefix);
    return yes();
  }

  // However the launcher ends, the rank ends with it.
  static void end_with(pid_t launcher) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher) ::_exit(128 + SIGKILL);  // it was quicker
  }

  [[noreturn]] void become(int rank, char** words) const {
    const auto set = [](const char* name, int value) {
      ::setenv(name, std::to_string(value).c_str(), 1);
    };
    set(kRankVariable, rank);
    set(kRanksVariable, request_.ranks);
    set(kBoardVariable, file_);
    const int cores = usable_cores();
    ::setenv("HEDDLE_THREADS", std::to_string(std::max(1, cores / request_.ranks)).c_str(), 0);
    // One that is wrong has been told of already.
    const char* watchdog = std::getenv("HEDDLE_WATCHDOG");
    if (watchdog != nullptr && !parse_watchdog(watchdog)) ::unsetenv("HEDDLE_WATCHDOG");
    ::signal(SIGPIPE, SIG_DFL);
    ::execvp(words[0], words);
    const std::string text = fmt::format("heddle: {}: {}\n", words[0], std::strerror(errno));
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(127);
  }

  bool all_ended() const {
    return std::ranges::all_of(ranks_, [](const Rank& r) { return r.ended; });
  }
  // Streams that a rank has left to others stay open for a moment only.
  bool any_open() const {
    const bool late = ended_at_ && Clock::now() - *ended_at_ > kForce;
    return !late && std::ranges::any_of(streams_, [](const Stream& s) { return s.open(); });
  }

  void pump() {
    std::vector<pollfd> waiting;
    std::vector<Stream*> of;
    for (Stream& stream : streams_)
      if (stream.open()) {
        waiting.push_back({stream.file(), POLLIN, 0});
        of.push_back(&stream);
      }
    ::poll(waiting.data(), waiting.size(), static_cast<int>(kLook.count()));
    for (std::size_t i = 0; i < of.size(); ++i)
      if (waiting[i].revents != 0) of[i]->pump();
  }

  void reap() {
    for (int r = 0; r < request_.ranks; ++r) {
      Rank& rank = ranks_[static_cast<std::size_t>(r)];
      if (rank.ended || ::waitpid(rank.pid, &rank.status, WNOHANG) != rank.pid) continue;
      rank.ended = true;
      board_->cell(r).exit_status = rank.status + 1;  // the others see it at once
      if (rank.status == 0) continue;
      // Who dies by a signal brings down the others, whatever is seen first.
      const bool worse = WIFSIGNALED(rank.status) && !rank.by_us;
      if (first_ < 0 || (worse && !WIFSIGNALED(ranks_[static_cast<std::size_t>(first_)].status)))
        first_ = r;
      if (!failed_at_) failed_at_ = Clock::now();
    }
    if (all_ended() && !ended_at_) ended_at_ = Clock::now();
  }

  // A run that saves is told once, and has the time to finish a step and save it; being told again
  // is for the impatient.
  bool leaves_time_to_save() {
    if (request_.signals().count != 1 || !request_.saves || failed_at_) return false;
    if (!told_to_save_)
      for (const Rank& rank : ranks_)
        if (!rank.ended) ::kill(rank.pid, SIGTERM);
    told_to_save_ = true;
    return true;
  }

  void end_the_rest() {
    if (leaves_time_to_save()) return;
    if (request_.signals().last != 0 && !failed_at_) failed_at_ = Clock::now() - kGrace;
    if (!failed_at_) return;
    const auto since = Clock::now() - *failed_at_;
    for (Rank& rank : ranks_) {
      // One that is stopped cannot end by itself.
      const bool stopped = !rank.ended && process_is_stopped(rank.pid);
      if (rank.ended || (since < kGrace && !stopped)) continue;
      ::kill(rank.pid, since < kGrace + kForce && !stopped ? SIGTERM : SIGKILL);
      rank.by_us = true;
    }
  }

  LaunchEnd report() const {
    if (const int signal = request_.signals().last; signal != 0)
      return {.signal = signal, .failure = {}};
    if (first_ < 0) return {};
    std::string text = fmt::format("rank {} of {} {}", first_, request_.ranks,
                                   how(ranks_[static_cast<std::size_t>(first_)].status));
    if (board_->failed()) text += "; " + board_->failure();
    std::string silent;
    for (int r = 0; r < request_.ranks; ++r)
      if (ranks_[static_cast<std::size_t>(r)].by_us)
        silent += fmt::format("{}{}", silent.empty() ? "" : ", ", r);
    if (!silent.empty())
      text += fmt::format("\n  rank {} did not end by itself and was ended", silent);
    return {.signal = 0, .failure = std::move(text)};
  }

  const LaunchRequest& request_;
  int file_ = -1;
  std::unique_ptr<Board> board_;
  std::vector<Rank> ranks_;
  std::vector<Stream> streams_;
  bool told_to_save_ = false;
  int first_ = -1;  // that failed
  std::optional<Clock::time_point> failed_at_, ended_at_;
};

}  // namespace

Expected<LaunchEnd> launch_ranks(const LaunchRequest& request) { return Launch(request).run(); }

}  // namespace heddle::comm
