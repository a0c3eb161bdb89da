// Work in another process, within a time limit: nothing that hangs or crashes there hurts us.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace heddle {

struct CommandOutcome {
  bool finished = false;  // it ran and ended by itself with status 0
  std::string output;     // its standard output, at most 1 MB
  std::string problem;    // in words, where not finished
};

// Runs a program found on PATH; its standard error is discarded.
CommandOutcome run_command(const std::vector<std::string>& command,
                           std::chrono::milliseconds limit);

// Runs `work` in a copy of this process and gives back the text it returns.
// For a process with one thread only.
CommandOutcome run_isolated(const std::function<std::string()>& work,
                            std::chrono::milliseconds limit);

}  // namespace heddle
