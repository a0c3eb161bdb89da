// Figures and words as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/error.h"

namespace heddle {

// "1 function", "3 functions"
std::string counted(std::size_t n, std::string_view what);

// "64.0 MB" (powers of 1000), "512 B"
std::string format_bytes(double bytes);

// The other way round: "64 MB", "1.5GB", "16GiB", "512"; without regard to capital letters.
Expected<std::int64_t> parse_bytes(std::string_view text);

// "22 ms", "5.6 us", "1.5 s"
std::string format_seconds(double seconds);

// At most `columns` wide; what is cut off shows as "...". Never cuts inside a character.
std::string shortened(std::string_view text, std::size_t columns);

// "expected ':'" of "shard:2:3: expected ':'\n 2 | ...": where the text around a user's word is not
// the user's, and so is no place in it.
std::string without_place(const std::string& reason);

}  // namespace heddle
