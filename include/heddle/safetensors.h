// Safetensors files: named arrays. The format has no complex<f64>.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/array.h"

namespace heddle {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

// The content of a file, in the order of its bytes.
Expected<NamedArrays> parse_safetensors(std::string_view content);
Expected<std::string> format_safetensors(const NamedArrays& arrays);
// What stands before the bytes of the arrays, which follow in this order.
Expected<std::string> safetensors_header(const NamedArrays& arrays);

Expected<NamedArrays> read_safetensors(const std::filesystem::path& file);
Verdict write_safetensors(const std::filesystem::path& file, const NamedArrays& arrays);

}  // namespace heddle
