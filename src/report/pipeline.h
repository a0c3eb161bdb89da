// The pipeline of a plan as JSON.
#pragma once

#include "heddle/plan_report.h"
#include "report/json.h"

namespace heddle::report {

Json pipeline_json(const PipelineReport& pipeline);
// Lanes by name, and at most so many tasks, the first ones; {"left_out": n} where there are more.
Json timeline_json(const PlannedFunction::Timeline& timeline, std::size_t most = SIZE_MAX);

}  // namespace heddle::report
