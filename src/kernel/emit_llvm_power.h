// x to the power of y.
#pragma once

#include "kernel/emit_llvm_ops.h"

namespace heddle {

// At most 1 ulp off. No step meets a subnormal number, whatever x, y and the result are.
std::string emit_power(LlvmWriter& writer, const LlvmValue& x, const LlvmValue& y);

}  // namespace heddle
