// Where the arrays of a file lie in it, so that one of them, or a part, is read without the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/array.h"

namespace heddle::frontend {

struct ArrayPlace {
  std::string name;  // empty in .npy files, which have one array
  Type type;
  std::uint64_t offset = 0;
  bool plain = true;  // false: in another order of bytes or of dimensions than arrays have
};

// Of a .npy or .safetensors file, by the end of its name.
Expected<std::vector<ArrayPlace>> array_places(const std::filesystem::path& file);

// An array of this type whose bytes begin so many bytes into a plain place.
Expected<Array> read_part(const std::filesystem::path& file, const ArrayPlace& place,
                          const Type& type, std::uint64_t skip = 0);

// From the beginning of a file of `bytes` bytes, up to the end of its header.
Expected<ArrayPlace> place_in_npy(std::string_view start, std::size_t bytes);
Expected<std::vector<ArrayPlace>> places_in_safetensors(std::string_view start, std::size_t bytes);

}  // namespace heddle::frontend
