// One function of a plan, from what its devices have.
#pragma once

#include "heddle/plan_report.h"

namespace heddle::report {

PlannedFunction planned_on_mesh(const Spmd& spmd, const SpmdFunction& function, bool explain);

}  // namespace heddle::report
