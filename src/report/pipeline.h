// The pipeline of a plan as JSON.
#pragma once

#include "heddle/pipeline_report.h"
#include "report/json.h"

namespace heddle::report {

Json pipeline_json(const PipelineReport& pipeline);

}  // namespace heddle::report
