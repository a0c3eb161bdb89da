#include "pjrt/quick.h"

namespace heddle::pjrt {

namespace {

constexpr double kQuickSeconds = 50e-6;
constexpr std::int64_t kQuickBytes = 1 << 16;  // of steps that the cost model says nothing of

}  // namespace

bool is_quick(const Executable& executable) {
  if (!executable.interpreted_because().empty() || executable.placement().on_mesh()) return false;
  double seconds = 0;
  for (const StepInfo& step : executable.steps()) {
    if (step.depth > 0) return false;
    const std::int64_t bytes = step.bytes_read + step.bytes_written;
    if (step.expected_seconds == 0 && bytes > kQuickBytes) return false;
    seconds += step.expected_seconds;
  }
  return seconds < kQuickSeconds;
}

}  // namespace heddle::pjrt
