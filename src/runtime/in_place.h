// Whether a kernel may write a result over one of its inputs.
#pragma once

#include "heddle/kernel.h"

namespace heddle::runtime {

// True where every load of the input happens at the point and index where the output is stored,
// in the one stage that touches either, so that nothing is read after it was overwritten.
bool can_work_in_place(const Kernel& kernel, std::uint32_t input, std::uint32_t output);

}  // namespace heddle::runtime
