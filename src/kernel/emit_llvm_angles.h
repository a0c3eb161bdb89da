// sin, cos and tan.
#pragma once

#include "kernel/emit_llvm_floats.h"
#include "kernel/emit_llvm_guard.h"

namespace heddle {

// Of f32 they are computed in f64, where two subtractions take the turns out of angles up to 2^30;
// of f64 in sums of two numbers. Vectors with larger angles take a way of their own: of f32 a few
// more multiplications where an instruction looks into a table, else the library's function.
std::string of_angle(LlvmWriter& writer, ScalarOp op, const LlvmValue& x,
                     const PlainFunction& function);

// Of angles in f64 up to 2^30.
std::string of_wide_angle(const Floats& f, ScalarOp op, const std::string& x);

// A sine whose angle has so many quarters of a turn, as the last bits say: its sign.
std::string negative_in_lower_half(const Floats& f, const std::string& value,
                                   const std::string& quarters);

}  // namespace heddle
