// The order that a sort asks for.
#pragma once

#include <span>

#include "device/scalar_region.h"

namespace heddle {

// Register 2i of the region is the left element of operand i, 2i + 1 the right one.
class Comparator {
 public:
  // Nothing where the region cannot be run as scalar functions.
  static std::optional<Comparator> of(const Program& program, const Op& sort);

  const ScalarRegion& region() const { return region_; }
  ScalarRegion::Registers fresh_registers() const { return region_.fresh_registers(); }
  bool comes_before(ScalarRegion::Registers& registers) const {
    region_.run(registers);
    return (registers[region_.results()[0]] & 1) != 0;
  }

  // Where the order is that of one key, computed alike from the left and the right element.
  struct Key {
    std::size_t operand = 0;
    DType dtype = DType::f32;
    bool descending = false;
    bool total = false;  // of floats: -NaN … -0, 0 … NaN; otherwise NaN has no place at all
    std::vector<std::size_t> steps;  // that make it of the left element
    std::size_t at = 0;              // register
  };
  const std::optional<Key>& key() const { return key_; }
  // The keys of elements that are `step` bytes apart, as numbers that compare as the order says.
  // False where one is a NaN that has no place.
  bool keys_of(const std::byte* elements, std::int64_t step, std::span<std::uint64_t> keys) const;

 private:
  void find_key(std::size_t operands);
  bool mirrors(std::size_t left, std::size_t right, Key& key) const;

  ScalarRegion region_;
  std::optional<Key> key_;
  DType element_ = DType::f32;  // of the key's operand
};

}  // namespace heddle
