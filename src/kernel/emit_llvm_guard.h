// Functions of a library and of the processor, kept away from subnormal numbers.
#pragma once

#include <functional>

#include "kernel/emit_llvm_ops.h"

namespace heddle {

// The function by itself, of values as wide as those that came in.
using PlainFunction = std::function<std::string(std::span<const LlvmValue>)>;

// The value of a function whose arguments are such that no step of it meets a subnormal number;
// what that leaves out is put in its place afterwards.
std::string guarded(LlvmWriter& writer, ScalarOp op, std::span<const LlvmValue> in,
                    const PlainFunction& function);

}  // namespace heddle
