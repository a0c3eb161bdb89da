#include "heddle/stop_request.h"

#include <unistd.h>

#include <string_view>

namespace heddle {
namespace {

volatile std::sig_atomic_t asked = 0;

void keep(int which) {
  constexpr std::string_view kText = "\nheddle: stops after this step; again: at once\n";
  if (asked == 0 && ::isatty(STDERR_FILENO) != 0)
    (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  asked = which;
}

// What somebody has asked to be ignored, as nohup does, stays so.
void handle(int number, struct sigaction& before, bool ignored) {
  struct sigaction now = {};
  now.sa_handler = ignored ? SIG_IGN : keep;
  now.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  if (ignored) now.sa_flags = 0;
  ::sigaction(number, nullptr, &before);
  if (before.sa_handler != SIG_IGN) ::sigaction(number, &now, nullptr);
}

}  // namespace

StopRequest::StopRequest(bool launched) {
  asked = 0;
  handle(SIGINT, interrupt_, launched);
  handle(SIGHUP, hangup_, launched);
  handle(SIGTERM, terminate_, false);
}

StopRequest::~StopRequest() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGHUP, &hangup_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
}

int StopRequest::signal() const { return asked; }

}  // namespace heddle
