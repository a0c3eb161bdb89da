// Functions of mathematics that are written out in line.
#pragma once

#include "kernel/emit_llvm_ops.h"

namespace heddle {

bool has_inline_form(const LlvmWriter& writer, ScalarOp op, const LlvmValue& x);
std::string emit_inline(LlvmWriter& writer, ScalarOp op, const LlvmValue& x);

}  // namespace heddle
