#include "heddle/schedule.h"

#include <algorithm>

#include "schedule/combine.h"
#include "schedule/overlap.h"

namespace heddle {

ScheduleOptions ScheduleOptions::within(std::int64_t device_memory) {
  constexpr std::int64_t kPart = 64;
  ScheduleOptions options;
  for (std::int64_t* bytes : {&options.combine_bytes, &options.ahead_bytes, &options.kept_bytes})
    *bytes = std::min(*bytes, device_memory / kPart);
  return options;
}

Program schedule(const Program& program, const ScheduleOptions& options) {
  Program combined = combine_collectives(program, options);
  return options.overlap ? overlap_collectives(combined, options.ahead_bytes) : combined;
}

}  // namespace heddle
