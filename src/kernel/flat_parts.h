// Whether a kernel can be done a stretch of elements at a time.
#pragma once

#include <optional>
#include <span>

#include "heddle/kernel.h"

namespace heddle {

// Elements of each of these buffers that one block of the kernel works on, where blocks take them
// one after the other; none where they do not. Only such a kernel can be launched in parts.
std::optional<std::int64_t> flat_grain(const Kernel& kernel,
                                       std::span<const std::uint32_t> buffers);

}  // namespace heddle
