// Where elements lie, for calls that go over them by hand.
#pragma once

#include <cstring>

#include "heddle/type.h"

namespace heddle::cpu {

// Scratch begins at lines of the cache.
inline std::int64_t rounded_up(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// From one element to the next along each dimension, the last one being dense.
inline std::vector<std::int64_t> steps_of(const Shape& shape) {
  std::vector<std::int64_t> steps(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  return steps;
}

// The bits of element `i`, each of `size` bytes.
inline std::uint64_t load_bits(const std::byte* data, std::int64_t i, std::int64_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data + i * size, static_cast<std::size_t>(size));
  return bits;
}

}  // namespace heddle::cpu
