// Why ops are dealt out as they are, for `heddle plan --explain`.
#pragma once

#include <string>

#include "heddle/spmd.h"

namespace heddle::cli {

// Of a function on a mesh: each choice with what was rejected, ops that are alike together.
std::string decisions_text(const Spmd& spmd, const SpmdFunction& function);

// What is decided of a function; null on one device.
const Decisions* decisions_of(const Spmd& spmd, const SpmdFunction& function);

}  // namespace heddle::cli
