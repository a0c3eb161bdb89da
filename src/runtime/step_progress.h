// What a run of many steps tells while it goes, and keeps for its report.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "heddle/program.h"

namespace heddle {

class StepProgress {
 public:
  using Say = std::function<void(const std::string& line)>;
  using History = std::vector<std::pair<std::int64_t, std::vector<double>>>;

  // Numbers are results that are scalars and not carried. Without `say` it keeps, but tells
  // nothing.
  StepProgress(const Function& function, std::vector<std::size_t> scalars, std::int64_t last,
               Say say)
      : function_(function), scalars_(std::move(scalars)), last_(last), say_(std::move(say)) {}

  // After every step, with its numbers; `saved` is the checkpoint that it left, if any. A line
  // every now and then, so that it does not scroll away what matters.
  void step(std::int64_t step, const std::vector<Array>& numbers, const std::string& saved);

  const std::vector<std::size_t>& scalars() const { return scalars_; }
  const History& history() const { return history_; }
  const std::string& saved() const { return saved_; }

 private:
  using Clock = std::chrono::steady_clock;
  void keep(std::int64_t step, const std::vector<Array>& numbers);

  const Function& function_;
  const std::vector<std::size_t> scalars_;
  const std::int64_t last_;
  const Say say_;
  History history_;
  std::string saved_;
  Clock::time_point begun_ = Clock::now(), told_ = begun_;
  std::chrono::duration<double> pause_{0};  // until the next line
  std::int64_t steps_ = 0, stride_ = 1;
};

}  // namespace heddle
