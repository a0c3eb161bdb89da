// A run that is asked to stop by a signal: it ends after the step that it is in.
#pragma once

#include <csignal>

namespace heddle {

// While it lives, the first SIGINT, SIGHUP or SIGTERM is kept instead of ending the process; the
// second one of a kind ends it as usual. Ranks of `heddle launch` leave the first two to the
// launcher, which tells all of them by SIGTERM.
class StopRequest {
 public:
  explicit StopRequest(bool launched);
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  // The signal that has come; 0: none.
  int signal() const;

 private:
  struct sigaction interrupt_ = {}, hangup_ = {}, terminate_ = {};  // from before
};

}  // namespace heddle
