#include "heddle/schedule.h"

#include "schedule/combine.h"

namespace heddle {

Program schedule(const Program& program, const ScheduleOptions& options) {
  return combine_collectives(program, options.combine_bytes);
}

}  // namespace heddle
