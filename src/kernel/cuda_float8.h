// Floats of 8 bits in the text of a GPU that converts them itself.
#pragma once

#include <optional>

#include "heddle/kernel.h"

namespace heddle {

struct CudaFloat8 {
  NodeId number = kNone;  // an f32
  bool has_infinities = false;
};

// The f32 of which a node is the nearest float of 8 bits (e4m3fn, e5m2), by the arithmetic that
// `lower_float8` writes; nothing where it is anything else.
std::optional<CudaFloat8> cuda_float8(const Stage& stage, NodeId node);

}  // namespace heddle
