// The angle of the point (x, y).
#pragma once

#include "kernel/emit_llvm_ops.h"

namespace heddle {

// At most 1 ulp off. No step meets a subnormal number, whatever y, x and the result are.
std::string emit_atan2(LlvmWriter& writer, const LlvmValue& y, const LlvmValue& x);

}  // namespace heddle
