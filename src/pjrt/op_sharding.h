// Layouts as the shardings that JAX asks executables for.
#pragma once

#include <string>

#include "heddle/placement.h"

namespace heddle::pjrt {

// Whether JAX can have it: blocks of equal size.
bool has_op_sharding(const Split& split);
// OpSharding in protobuf's coding, devices by their places in the assignment.
std::string op_sharding(const Split& split, const MeshDecl& on);
std::string replicated_sharding();

}  // namespace heddle::pjrt
