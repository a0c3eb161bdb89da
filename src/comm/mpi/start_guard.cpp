#include "comm/mpi/start_guard.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "comm/board.h"

namespace heddle::comm {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{100};
constexpr int kTicksPerSecond = 10;
// Times the watchdog's time; and seconds.
constexpr double kToJoin = 10, kToJoinFar = 20, kLeastToJoin = 5;
constexpr int kMostAncestors = 16;

int number_in(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    const char* text = std::getenv(variable);
    int value = -1;
    if (text == nullptr) continue;
    const auto [stop, error] = std::from_chars(text, text + std::strlen(text), value);
    if (error == std::errc{} && *stop == 0) return value;
  }
  return -1;
}

// The process of MPICH on this machine that has started all its ranks here, however far up.
std::string mpich_proxy() {
  pid_t pid = ::getppid();
  for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text;
    if (!std::getline(file, text)) return "";
    if (text.find("(hydra_pmi_proxy)") != std::string::npos) return fmt::format("proxy{}", pid);
    const std::size_t close = text.rfind(')');
    if (close == std::string::npos || close + 4 >= text.size()) return "";
    pid = std::atoi(text.c_str() + close + 4);  // after the state
  }
  return "";
}

std::string job_name() {
  for (const char* variable : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"})
    if (const char* job = std::getenv(variable); job != nullptr && *job != 0) return job;
  return mpich_proxy();
}

// Names that begin with a zero belong to no file: they vanish with the process.
struct Name {
  sockaddr_un address = {};
  socklen_t length = 0;
};

Name name_of(const std::string& job, int rank) {
  const std::string text = fmt::format("heddle-{}-{}-{}", ::getuid(), job, rank);
  Name name;
  name.address.sun_family = AF_UNIX;
  const std::size_t size = std::min(text.size(), sizeof name.address.sun_path - 1);
  std::memcpy(name.address.sun_path + 1, text.data(), size);
  name.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return name;
}

int give_sign(const std::string& job, int rank) {
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  const Name name = name_of(job, rank);
  const auto* address = reinterpret_cast<const sockaddr*>(&name.address);
  if (::bind(file, address, name.length) == 0 && ::listen(file, SOMAXCONN) == 0) return file;
  ::close(file);
  return -1;
}

// The process of a rank that starts here now; 0 where there is none. Asked rarely: nobody takes the
// calls, so that they pile up.
pid_t process_of(const std::string& job, int rank) {
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return 0;
  const Name name = name_of(job, rank);
  ucred who = {};
  socklen_t size = sizeof who;
  const bool there =
      ::connect(file, reinterpret_cast<const sockaddr*>(&name.address), name.length) == 0 &&
      ::getsockopt(file, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
  ::close(file);
  return there ? who.pid : 0;
}

}  // namespace

StartGuard::StartGuard(double watchdog)
    : watchdog_(watchdog),
      rank_(number_in({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})),
      size_(number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})),
      all_here_(size_ > 0 && number_in({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) == size_),
      job_(job_name()) {
  if (rank_ >= 0 && !job_.empty()) sign_ = give_sign(job_, rank_);
  ranks_.resize(static_cast<std::size_t>(std::max(size_, 0)));
  thread_ = std::thread([this] { look(); });
}

StartGuard::~StartGuard() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  change_.notify_all();
  thread_.join();
  if (sign_ >= 0) ::close(sign_);
}

void StartGuard::look() {
  // Nobody knows what ranks of other machines do; they have longer.
  const double limit = std::max(kLeastToJoin, watchdog_ * (all_here_ ? kToJoin : kToJoinFar));
  std::unique_lock lock(mutex_);
  // Counted in ticks of our own: a pause of all ranks is nobody's fault.
  for (int tick = 1; !over_; ++tick) {
    change_.wait_for(lock, kTick, [&] { return over_; });
    if (over_) return;
    const bool late = tick > limit * kTicksPerSecond;
    if (late || tick % kTicksPerSecond == 0) find_ranks();
    if (std::string stopped = stopped_rank(); !stopped.empty()) give_up(stopped);
    if (late) give_up(missing_ranks());
  }
}

void StartGuard::find_ranks() {
  for (std::size_t r = 0; r < ranks_.size() && !job_.empty(); ++r)
    if (ranks_[r].pid == 0) ranks_[r].pid = process_of(job_, static_cast<int>(r));
}

std::string StartGuard::stopped_rank() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Seen& rank = ranks_[r];
    rank.stopped = rank.pid != 0 && process_is_stopped(rank.pid) ? rank.stopped + 1 : 0;
    if (rank.stopped > watchdog_ / 2 * kTicksPerSecond)
      return fmt::format("rank {} of {} has not joined the run: its process is stopped", r, size_);
  }
  return "";
}

std::string StartGuard::missing_ranks() const {
  const double waited = std::chrono::duration<double>(Clock::now() - begun_).count();
  std::string missing;
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (ranks_[r].pid == 0) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", r);
  const auto after = fmt::format("MPI has not started within {:.1f} s", waited);
  if (missing.empty() || !all_here_ || sign_ < 0)
    return fmt::format("a rank has not joined the run: {}", after);
  return fmt::format("rank {} of {} has not joined the run: {}", missing, size_, after);
}

// MPI cannot be left in order here, nor can it end the others: launchers do where one fails.
void StartGuard::give_up(const std::string& why) const {
  const std::string text = fmt::format(
      "heddle: {}\n  rank {} was waiting; do all ranks run heddle with the same --transport? "
      "--watchdog SECONDS gives them ten times as long\n",
      why, rank_);
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  std::this_thread::sleep_for(kToSpeak);  // others look for this rank, too
  ::_exit(1);
}

}  // namespace heddle::comm
