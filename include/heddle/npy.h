// NumPy's .npy files. The format has no bf16 and no f8: those are written as f32, which is exact.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

// The content of a file: versions 1 to 3, either byte order, C or Fortran order.
Expected<Array> parse_npy(std::string_view content);
std::string format_npy(const Array& array);

Expected<Array> read_npy(const std::filesystem::path& file);
Verdict write_npy(const std::filesystem::path& file, const Array& array);

}  // namespace heddle
