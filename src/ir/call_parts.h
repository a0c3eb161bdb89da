// Calls out of a program that each device makes for itself.
#pragma once

#include <string_view>

namespace heddle {

// On a custom call without results: devices call with the parts of operands that they have.
inline constexpr std::string_view kPartsAttr = "heddle.parts";

}  // namespace heddle
