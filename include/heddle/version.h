// Which Heddle this is.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// "0.1.0"
std::string_view version();

// "g++ 12.2.0"
std::string compiler();

// "release", "debug", "asan" or "tsan"
std::string_view build_kind();

// "heddle 0.1.0 (g++ 12.2.0, release)"
std::string version_line();

}  // namespace heddle
