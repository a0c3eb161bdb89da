// What the readers of array files share.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "heddle/array.h"

namespace heddle::frontend {

// All bytes of a file.
Expected<std::string> read_bytes(const std::filesystem::path& file);
Expected<std::string> read_standard_input();

// The type, where its sizes are sensible and it takes exactly `bytes` bytes.
Expected<Type> sized_type(DType dtype, Shape shape, std::size_t bytes);

// An array of raw little-endian bytes; truth values become 0 or 1.
Array array_of(Type type, std::string_view bytes);

}  // namespace heddle::frontend
