// Writing files so that nobody ever sees half of one.
#pragma once

#include <filesystem>
#include <string_view>

#include "heddle/error.h"

namespace heddle {

// Replaces `file` by `content`: whole, or not at all. Pipes and devices are written in place; a
// read-only file is refused.
Verdict write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace heddle
