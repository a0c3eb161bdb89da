// NumPy's .npy files. The format has no floats below 16 bits, no bf16 and no integers below 8 bits:
// they are written as f32, i8 and ui8, which is exact, and taken so.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

// The content of a file: versions 1 to 3, either byte order, C or Fortran order.
Expected<Array> parse_npy(std::string_view content);
std::string format_npy(const Array& array);

// What a file holds as a value of this type, where it was written wider. Says no where an element
// is no number of the type. What is of any other type stays as it is.
Expected<Array> narrowed_npy(const Array& array, const Type& type);

Expected<Array> read_npy(const std::filesystem::path& file);
Verdict write_npy(const std::filesystem::path& file, const Array& array);

}  // namespace heddle
