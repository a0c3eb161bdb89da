// Starts the ranks of a run as processes of this machine, and looks after them: what they write
// goes on line by line, and where one fails, the others end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.h"

namespace heddle::comm {

inline constexpr int kMostRanks = 1024;

// Signals that have come to the launcher.
struct Signals {
  int last = 0, count = 0;
};

struct LaunchRequest {
  int ranks = 2;
  std::vector<std::string> command;
  // The run can end in order where it is told to: it gets the time to save.
  bool saves = false;
  std::function<Signals()> signals = [] { return Signals(); };
  // Whole lines, each with its rank in front; the first rank's output as it is where a program
  // reads it.
  bool reports_json = false;
  std::function<void(std::string_view)> write_output, write_error;
};

struct LaunchEnd {
  int signal = 0;            // that ended it
  std::string failure = {};  // which rank failed, and how; empty where all went well
};

// Comes back when all have ended. A reason where they cannot be started.
Expected<LaunchEnd> launch_ranks(const LaunchRequest& request);

}  // namespace heddle::comm
