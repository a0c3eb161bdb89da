// Writing files so that nobody ever sees half of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "heddle/error.h"

namespace heddle {

// Whether a power cut may cost the file: what can be made again need not wait for the disk.
enum class Durability : std::uint8_t { lasting, cache };

// Replaces `file` by `content`: whole, or not at all. Pipes and devices are written in place; a
// read-only file is refused.
Verdict write_file(const std::filesystem::path& file, std::string_view content,
                   Durability durability = Durability::lasting);
// The same for content that lies in several places, one after the other.
Verdict write_file_parts(const std::filesystem::path& file, std::span<const std::string_view> parts,
                         Durability durability = Durability::lasting);

}  // namespace heddle
