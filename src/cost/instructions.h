// What one element of an op costs, in instructions by class; loads and stores are the kernel's.
#pragma once

#include "heddle/machine.h"
#include "heddle/program.h"
#include "heddle/scalar_op.h"

namespace heddle {

struct Instructions {
  double light = 0;  // additions, products, comparisons, index arithmetic, guards
  double heavy = 0;  // in exponentials
};

// `rounding` of a machine: what goes with an op on numbers of 16 bits.
Instructions instructions_of(const Program& program, const Op& op,
                             double rounding = MachineFigures{}.rounding);
// Of a scalar op on elements of a type, as a kernel has it.
Instructions instructions_of(ScalarOp op, DType type);

}  // namespace heddle
