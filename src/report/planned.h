// One function of a plan, from what its devices have.
#pragma once

#include "heddle/plan_report.h"

namespace heddle::report {

// All but its functions.
PlanReport plan_head(const Spmd& spmd, const PlanReportOptions& options);
PlannedFunction planned_on_mesh(const Spmd& spmd, const SpmdFunction& function, bool explain);

}  // namespace heddle::report
