// sin, cos and tan.
#pragma once

#include "kernel/emit_llvm_floats.h"
#include "kernel/emit_llvm_ops.h"

namespace heddle {

// Of f32 they are computed in f64, where two subtractions take the turns out of angles up to 2^30;
// of f64 in sums of two numbers. Vectors with larger angles take a branch, which looks the turns of
// their exponents up.
std::string of_angle(LlvmWriter& writer, ScalarOp op, const LlvmValue& x);

// A sum, of which the second part is small beside the first.
struct Sum {
  std::string high, low;
};

// An angle as quarters * pi / 2 + rest.
struct ReducedAngle {
  Sum rest;
  std::string quarters;  // as bits, of which the last two count
};

// Of angles in f64, whatever their size; those below 2^kFirstQuarters stand for 0.
ReducedAngle reduce_any_angle(const Floats& f, const std::string& x);

// The same of |x|, mostly by words of bits.
ReducedAngle reduce_by_words(const Floats& f, const std::string& x);

// Lanes of angles above 2^30: up to there f64 holds the turns and what is left of the angle.
std::string is_huge_angle(const Floats& f, const std::string& x);

// Of angles in f64: of all, or of such up to 2^30.
std::string of_wide_angle(const Floats& f, ScalarOp op, const std::string& x, bool any_size);

// A sine whose angle has so many quarters of a turn, as the last bits say: its sign.
std::string negative_in_lower_half(const Floats& f, const std::string& value,
                                   const std::string& quarters);

}  // namespace heddle
