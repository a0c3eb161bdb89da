// One op as a program of its own, for the reference interpreter.
#pragma once

#include <memory>

#include "heddle/program.h"

namespace heddle::runtime {

// Function 0 takes `reads` (operands, then what the regions take from around) and gives the
// results.
std::shared_ptr<const Program> program_of_op(const Program& from, const Op& op,
                                             const std::vector<ValueId>& reads);

// Arrays of one repeated element get their bytes, so that nothing of the program changes any more.
void write_out_constants(const Program& program);

}  // namespace heddle::runtime
