// What the axes of a mesh do for a program, in words.
#pragma once

#include "heddle/decide.h"
#include "heddle/plan_report.h"

namespace heddle::report {

// One for each axis: "dp=8", "the batch; products: all by rows; 98 % of the state".
std::vector<PlannedFunction::AxisWords> layout_words(const Decisions& decisions,
                                                     const Function& function);

// What is decided of a function; null on one device.
const Decisions* decisions_of(const Spmd& spmd, const std::string& function);

}  // namespace heddle::report
