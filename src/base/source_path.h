// File names of our own sources, as a reader of the repository knows them.
#pragma once

#include <string_view>

namespace heddle {

// The path from the root of the source tree on; only the file's name where that is unclear.
std::string_view source_path(std::string_view file);

}  // namespace heddle
