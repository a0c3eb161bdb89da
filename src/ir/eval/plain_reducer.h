// Bodies of reductions that are one op of an accumulator and an element, as almost all are: they
// are computed on bits by the function that the op itself has, without running a region per
// element.
#pragma once

#include <cstring>
#include <optional>

#include "ir/eval/eval.h"
#include "ir/eval/scalar_function.h"

namespace heddle {

class PlainReducer {
 public:
  // Nothing where the body does more, or where elements have no such function.
  static std::optional<PlainReducer> of(const Program& program, RegionId region);

  std::uint64_t operator()(std::uint64_t accumulator, std::uint64_t element) const {
    return element_first_ ? function_(element, accumulator, 0) : function_(accumulator, element, 0);
  }

 private:
  PlainReducer(ScalarFunction function, bool element_first)
      : function_(function), element_first_(element_first) {}

  ScalarFunction function_;
  bool element_first_;
};

inline std::uint64_t bits_at(const Array& array, std::int64_t flat) {
  const auto bytes = array.element(flat);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  return bits;
}
inline void put_bits(Array& array, std::int64_t flat, std::uint64_t bits) {
  const auto width = static_cast<std::size_t>(byte_size(array.dtype()));
  std::memcpy(array.mutable_bytes().data() + static_cast<std::size_t>(flat) * width, &bits, width);
}

}  // namespace heddle
