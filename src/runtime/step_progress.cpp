#include "runtime/step_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "heddle/compare.h"
#include "heddle/signature.h"

namespace heddle {

void StepProgress::keep(std::int64_t step, const std::vector<Array>& numbers) {
  constexpr std::size_t kMostKept = 2000;
  if (scalars_.empty() || (steps_ % stride_ != 0 && step != last_)) return;
  std::vector<double> values;
  for (const Array& a : numbers) values.push_back(summarize(a).mean);
  history_.emplace_back(step, std::move(values));
  if (history_.size() < kMostKept) return;
  stride_ *= 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < history_.size(); i += 2) history_[kept++] = history_[i];
  history_.resize(kept);
}

void StepProgress::step(std::int64_t step, const std::vector<Array>& numbers,
                        const std::string& saved) {
  constexpr std::size_t kMostShown = 4;
  constexpr std::chrono::duration<double> kLeast{1}, kMost{10};
  keep(step, numbers);
  ++steps_;
  if (!saved.empty()) saved_ = saved;
  const auto now = Clock::now();
  if (!say_ || last_ == step || now - told_ < pause_) return;
  std::string text = fmt::format("step {} of {}", step, last_);
  for (std::size_t i = 0; i < std::min(numbers.size(), kMostShown); ++i)
    text +=
        fmt::format("   {} {}", result_title(function_, scalars_[i]), summarize(numbers[i]).value);
  const std::chrono::duration<double> took = now - begun_;
  text += fmt::format("   {} a step", format_seconds(took.count() / static_cast<double>(steps_)));
  if (!saved_.empty()) text += "   saved " + saved_;
  say_(text);
  told_ = now;
  pause_ = std::clamp(pause_ * 1.5, kLeast, kMost);
}

}  // namespace heddle
