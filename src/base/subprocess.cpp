#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

namespace heddle {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostOutput = 1 << 20;

// Both ends of a pipe, closed at the end.
struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
      read_end = ends[0];
      write_end = ends[1];
    }
  }
  ~Pipe() {
    close_write_end();
    if (read_end >= 0) ::close(read_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool ok() const { return read_end >= 0; }
  void close_write_end() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
};

CommandOutcome failed(std::string why) { return {false, {}, std::move(why)}; }

std::string error_text(int error) { return std::generic_category().message(error); }

// Reads until the other end closes; false when the time is up.
bool read_until(int descriptor, Clock::time_point deadline, std::string& output) {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return true;
    if (count > 0 && output.size() < kMostOutput) {
      output.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
}

// The wait status, or nothing when the time is up.
std::optional<int> wait_until(pid_t child, Clock::time_point deadline) {
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Collects the output of `child`, the leader of its own process group, and sees it to its end.
CommandOutcome collect(pid_t child, Pipe& pipe, std::chrono::milliseconds limit) {
  pipe.close_write_end();
  const auto deadline = Clock::now() + limit;
  CommandOutcome outcome;
  std::optional<int> status;
  if (read_until(pipe.read_end, deadline, outcome.output)) status = wait_until(child, deadline);
  if (!status) {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);  // it may not lead its group yet
    int ignored = 0;
    while (::waitpid(child, &ignored, 0) < 0 && errno == EINTR) {
    }
    outcome.problem =
        fmt::format("did not answer within {} s", static_cast<double>(limit.count()) / 1e3);
  } else if (WIFSIGNALED(*status)) {
    outcome.problem = fmt::format("ended by signal {}", WTERMSIG(*status));
  } else if (WEXITSTATUS(*status) != 0) {
    outcome.problem = fmt::format("ended with status {}", WEXITSTATUS(*status));
  } else {
    outcome.finished = true;
  }
  return outcome;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The child's side of run_isolated. Libraries that chatter must not disturb our output.
[[noreturn]] void run_child(const std::function<std::string()>& work, int answer, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it has its own group, but ends with its parent
  if (::getppid() != parent) ::_exit(1);
  ::setpgid(0, 0);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {0, 1, 2}) {
    if (nowhere >= 0) ::dup2(nowhere, stream);
  }
  int status = 1;
  try {
    status = write_all(answer, work()) ? 0 : 1;
  } catch (const std::exception&) {
  }
  ::_exit(status);
}

}  // namespace

CommandOutcome run_command(const std::vector<std::string>& command,
                           std::chrono::milliseconds limit) {
  Pipe pipe;
  if (!pipe.ok()) return failed(error_text(errno));
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, pipe.write_end, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);

  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error == ENOENT) return failed("not found");
  if (error != 0) return failed(error_text(error));
  return collect(child, pipe, limit);
}

CommandOutcome run_isolated(const std::function<std::string()>& work,
                            std::chrono::milliseconds limit) {
  Pipe pipe;
  if (!pipe.ok()) return failed(error_text(errno));
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) return failed(error_text(errno));
  if (child == 0) run_child(work, pipe.write_end, parent);
  return collect(child, pipe, limit);
}

}  // namespace heddle
