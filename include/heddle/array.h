// Array: a dense tensor in host memory, row-major. Constants and the reference interpreter use it.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "heddle/block.h"
#include "heddle/error.h"
#include "heddle/type.h"

namespace heddle {

class Array {
 public:
  Array() = default;
  // All zero bytes. Throws Error where there is not enough memory.
  explicit Array(Type type);
  // Copies raw bytes in the machine's order; their number must fit the type.
  Array(Type type, std::span<const std::byte> bytes);
  // Takes a block of at least the bytes that the type has.
  Array(Type type, std::shared_ptr<Block> block);
  // Every element is `element` (byte_size(dtype) bytes); memory is taken only when written or read
  // whole.
  static Array splat(Type type, std::span<const std::byte> element);

  const Type& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  std::int64_t elements() const { return type_.elements(); }
  bool is_splat() const { return splat_; }

  // All bytes; a splat is written out first.
  std::span<const std::byte> bytes() const;
  // For writing; a shared buffer is copied first.
  std::span<std::byte> mutable_bytes();
  // The bytes of one element, by its flat index.
  std::span<const std::byte> element(std::int64_t flat) const;

  template <typename T>
  std::span<const T> as() const {
    auto b = bytes();
    return {reinterpret_cast<const T*>(b.data()), b.size() / sizeof(T)};
  }
  template <typename T>
  std::span<T> as_mutable() {
    auto b = mutable_bytes();
    return {reinterpret_cast<T*>(b.data()), b.size() / sizeof(T)};
  }

  // The block that holds the bytes, a splat written out first; null for an array without any.
  const std::shared_ptr<Block>& block() const;

  // The same bytes under another type of the same size.
  Array reinterpreted(Type type) const;

  // Equal types and equal bits.
  friend bool operator==(const Array& a, const Array& b);

 private:
  Type type_ = Type::tensor(DType::i1, {0});
  mutable std::shared_ptr<Block> data_;
  mutable bool splat_ = false;
};

}  // namespace heddle
