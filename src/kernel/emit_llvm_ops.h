// The scalar operations of kernels as LLVM instructions, on scalars and on vectors alike. Each
// means exactly what the reference evaluation of ops says.
#pragma once

#include <span>

#include "kernel/emit_llvm_writer.h"

namespace heddle {

// `op` of values of one element type and one number of lanes (conditions of select apart).
LlvmValue emit_op(LlvmWriter& writer, ScalarOp op, DType result, std::span<const LlvmValue> in);

// Parts of it, each in a file of its own.
LlvmValue emit_convert(LlvmWriter& writer, DType result, const LlvmValue& x);
LlvmValue emit_bitcast(LlvmWriter& writer, DType result, const LlvmValue& x);
LlvmValue emit_integer_op(LlvmWriter& writer, ScalarOp op, std::span<const LlvmValue> in);
LlvmValue emit_extremum(LlvmWriter& writer, ScalarOp op, std::span<const LlvmValue> in);
LlvmValue emit_extremum_of_lanes(LlvmWriter& writer, ScalarOp op, LlvmValue x);
LlvmValue emit_maths(LlvmWriter& writer, ScalarOp op, std::span<const LlvmValue> in);

// A float that was computed in f32, rounded to f16 or bf16; others as they are.
LlvmValue rounded(LlvmWriter& writer, LlvmValue x);

// From and to the type that memory holds.
LlvmValue from_memory(LlvmWriter& writer, std::string_view loaded, DType type, int lanes);
std::string to_memory(LlvmWriter& writer, const LlvmValue& x);

// Whether a known combiner's operation is a minimum, a sum, …: of all lanes of a vector.
LlvmValue emit_reduce(LlvmWriter& writer, ScalarOp op, const LlvmValue& vector);

// A value of the type and number of lanes of `model`.
inline LlvmValue like(LlvmValue model, std::string text) {
  model.text = std::move(text);
  return model;
}

// Lanes of a vector from `first` on; behind the last comes the first.
LlvmValue lanes_of(LlvmWriter& writer, const LlvmValue& x, int first, int lanes);

bool is_signed_integer(DType type);
// The word that float instructions carry.
std::string_view float_flags(const LlvmWriter& writer);

}  // namespace heddle
