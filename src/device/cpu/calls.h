// The library calls, by op. Each is null where it does not fit the op.
#pragma once

#include "device/cpu/library.h"

namespace heddle::cpu {

std::unique_ptr<LibraryCall> dot_call(const Program& program, const Op& op);

}  // namespace heddle::cpu
