#include "terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "commands.h"
#include "heddle/error.h"

namespace heddle::cli {
namespace {

std::atomic<bool> wrote_stdout = false;

// 0, or the error number.
int write_all(int stream, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(stream, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

}  // namespace

bool has_written_stdout() { return wrote_stdout; }

void write_stdout(std::string_view text) {
  wrote_stdout = wrote_stdout || !text.empty();
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw Exit{kExitFailed};  // the reader has gone and needs no telling
  if (error != 0)
    throw Error(
        fmt::format("cannot write to standard output: {}", std::generic_category().message(error)));
}

void write_stderr(std::string_view text) noexcept { (void)write_all(STDERR_FILENO, text); }

}  // namespace heddle::cli
