// What a long compilation is busy with, on the last line of a terminal: for people who wait.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "heddle/compile_options.h"

namespace heddle::cli {

// "compiles for 12 s: machine code, 34 of 120 kernels"
std::string waiting_text(const CompileProgress& progress, double seconds);

// While it lives, after the first second, a line that is written over and removed at the end.
// Nothing where `stream` is no terminal, or messages of the log come there.
class Waiting {
 public:
  explicit Waiting(int stream = STDERR_FILENO, double after_seconds = 1);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  CompileProgress progress;

 private:
  void show(double after_seconds);

  const int stream_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace heddle::cli
