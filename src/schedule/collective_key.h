// Which collectives may become one.
#pragma once

#include <string>

#include "heddle/program.h"

namespace heddle {

// On a collective that begins by itself: a chunk of one that work is to hide.
inline constexpr std::string_view kApartAttr = "heddle.apart";

// What must be equal; empty for ops that stay alone. Only those along axes of a mesh are ours.
std::string collective_key(const Program& program, const Op& op);

}  // namespace heddle
