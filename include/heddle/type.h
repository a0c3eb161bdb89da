// Types of values: tensors of a static shape, tokens, and tuples where StableHLO's text has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/dtype.h"

namespace heddle {

using Shape = std::vector<std::int64_t>;

struct Type {
  enum class Kind : std::uint8_t { tensor, token, tuple };
  Kind kind = Kind::tensor;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<Type> parts;  // of a tuple

  static Type tensor(DType dtype, Shape shape) {
    return {Kind::tensor, dtype, std::move(shape), {}};
  }
  static Type token() { return {Kind::token, DType::i1, {}, {}}; }
  static Type tuple(std::vector<Type> parts) {
    return {Kind::tuple, DType::i1, {}, std::move(parts)};
  }

  bool is_tensor() const { return kind == Kind::tensor; }
  std::size_t rank() const { return shape.size(); }
  std::int64_t elements() const;  // 1 for a scalar
  std::int64_t bytes() const;
  std::string str() const;  // as StableHLO writes it: tensor<4x8xf32>
  std::uint64_t hash() const;
  friend bool operator==(const Type&, const Type&) = default;
};

}  // namespace heddle
