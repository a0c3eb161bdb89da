// Calls into Python that a program for many devices makes once, not once per device.
#pragma once

#include "heddle/program.h"

namespace heddle::pjrt {

// On such calls: every device has the same operands, one of them calls, all take what it got.
inline constexpr const char* kOnce = "heddle.once";

// The program with calls outside of manual computations marked, those that each device is to make
// with its part of operands by kPartsAttr.
Expected<Program> mark_whole_calls(const Program& program);

}  // namespace heddle::pjrt
