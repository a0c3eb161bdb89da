// Writing files so that nobody ever sees half of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
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

// What would keep write_file from writing, asked before long work. Leaves no trace.
Verdict can_write(const std::filesystem::path& file);
// The same for files of any name in a folder, and for the folder itself where it is missing: the
// nearest one above it that is there is asked.
Verdict can_write_into(const std::filesystem::path& folder);

// Bytes that the disk of a folder has left; none where that cannot be told.
std::optional<double> room_in(const std::filesystem::path& folder);

}  // namespace heddle
