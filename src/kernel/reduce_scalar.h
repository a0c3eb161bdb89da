// The instruction by which kernels put two elements of a reduction together.
#pragma once

#include "heddle/layout.h"
#include "heddle/scalar_op.h"

namespace heddle {

ScalarOp scalar_of(ReduceOp op);

}  // namespace heddle
