// sin, cos and tan of f32.
#pragma once

#include "kernel/emit_llvm_guard.h"

namespace heddle {

// Computed in f64, where two subtractions take the turns out of angles up to 2^30. Vectors with
// larger ones take a way of their own: a few more multiplications, or the library's function where
// there is no instruction that looks into a table.
std::string of_angle(LlvmWriter& writer, ScalarOp op, const LlvmValue& x,
                     const PlainFunction& function);

}  // namespace heddle
