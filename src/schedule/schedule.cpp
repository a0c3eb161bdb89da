#include "heddle/schedule.h"

#include "schedule/combine.h"
#include "schedule/overlap.h"

namespace heddle {

Program schedule(const Program& program, const ScheduleOptions& options) {
  Program combined = combine_collectives(program, options.combine_bytes);
  return options.overlap ? overlap_collectives(combined, options.ahead_bytes) : combined;
}

}  // namespace heddle
