// Work that the first Ctrl-C asks for what it has found so far; the second one ends the process.
#pragma once

#include <stop_token>
#include <thread>

#include "heddle/stop_request.h"

namespace heddle::cli {

class Stoppable {
 public:
  Stoppable();
  std::stop_token token() const { return stop_.get_token(); }
  bool is_stopped() const { return stop_.stop_requested(); }
  // That has come; 0: none.
  int signal() const { return signals_.signal(); }

 private:
  const StopRequest signals_{false};
  std::stop_source stop_;
  std::jthread watch_;  // ends first
};

}  // namespace heddle::cli
