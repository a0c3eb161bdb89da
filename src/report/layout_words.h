// What the axes of a mesh do for a program, in words.
#pragma once

#include "heddle/decide.h"
#include "heddle/plan_report.h"

namespace heddle::report {

// One for each axis: "dp=8", "the batch; products: all by rows; 98 % of the state".
std::vector<PlannedFunction::AxisWords> layout_words(const Decisions& decisions,
                                                     const Function& function);

// Of a part of the function, such as a stage of a pipeline.
struct PartOfFunction {
  std::vector<bool> ops;        // by OpId
  std::vector<bool> arguments;  // by argument
};
std::vector<PlannedFunction::AxisWords> layout_words(const Decisions& decisions,
                                                     const Function& function,
                                                     const PartOfFunction& part);
// "4 along the batch, 2 along weights": what axes do for most of the work that has weights in it.
std::string effective_shape(const Decisions& decisions, const Function& function,
                            const PartOfFunction& part);

// What is decided of a function; null on one device.
const Decisions* decisions_of(const Spmd& spmd, const std::string& function);

}  // namespace heddle::report
