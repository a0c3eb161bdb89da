// What a run of many steps tells while it goes, on standard error, and keeps for its report.
#pragma once

#include <chrono>

#include "run_report.h"

namespace heddle::cli {

class Progress {
 public:
  // Numbers are results that are scalars and not carried. A quiet one keeps, but tells nothing.
  Progress(const Function& function, std::vector<std::size_t> scalars, std::int64_t last,
           bool quiet)
      : function_(function), scalars_(std::move(scalars)), last_(last), quiet_(quiet) {}

  // After every step, with its numbers; `saved` is the checkpoint that it left, if any. A line
  // every now and then, so that it does not scroll away what matters.
  void step(std::int64_t step, const std::vector<Array>& numbers, const std::string& saved);

  const std::vector<std::size_t>& scalars() const { return scalars_; }
  StepsDone done;

 private:
  using Clock = std::chrono::steady_clock;
  void keep(std::int64_t step, const std::vector<Array>& numbers);

  const Function& function_;
  const std::vector<std::size_t> scalars_;
  const std::int64_t last_;
  const bool quiet_;
  Clock::time_point begun_ = Clock::now(), told_ = begun_;
  std::chrono::duration<double> pause_{0};  // until the next line
  std::int64_t steps_ = 0, stride_ = 1;
};

}  // namespace heddle::cli
