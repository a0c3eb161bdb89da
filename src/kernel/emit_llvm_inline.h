// Functions of mathematics that are written out in line.
#pragma once

#include "kernel/emit_llvm_ops.h"

namespace heddle {

// What is known of an argument.
enum class Sign : std::uint8_t { any, not_positive };

bool has_inline_form(const LlvmWriter& writer, ScalarOp op, const LlvmValue& x);
std::string emit_inline(LlvmWriter& writer, ScalarOp op, const LlvmValue& x);
std::string emit_exp(LlvmWriter& writer, const LlvmValue& x, Sign sign);

}  // namespace heddle
