// The order of elements by keys that compare as unsigned numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heddle/thread_pool.h"

namespace heddle::cpu {

// Numbers of elements.
using Order = std::vector<std::uint32_t>;

// Works out one order after another, in memory that it keeps.
class KeyOrder {
 public:
  // Keys have no bits above the lowest `key_bits`.
  explicit KeyOrder(int key_bits) : key_bits_(key_bits) {}

  // Smallest first, equal ones in the order in which they came. Long lists by all workers.
  void sort(std::span<const std::uint64_t> keys, Order& order, ThreadPool& pool);
  // The keys themselves, smallest first.
  void sort_keys(std::span<std::uint64_t> keys, ThreadPool& pool);
  // The first `count` of that order, for a small count.
  void first(std::span<const std::uint64_t> keys, std::size_t count, Order& order);

 private:
  // Key and number in one word where both fit, which is half of the bytes to move.
  struct Packed {
    std::uint64_t bits = 0;
    Packed() = default;
    Packed(std::uint64_t key, std::size_t index) : bits(key << 32 | index) {}
    std::uint64_t key() const { return bits >> 32; }
    std::uint32_t index() const { return static_cast<std::uint32_t>(bits); }
    friend auto operator<=>(const Packed&, const Packed&) = default;
  };
  struct Wide {
    std::uint64_t key_ = 0;
    std::uint32_t index_ = 0;
    Wide() = default;
    Wide(std::uint64_t key, std::size_t index)
        : key_(key), index_(static_cast<std::uint32_t>(index)) {}
    std::uint64_t key() const { return key_; }
    std::uint32_t index() const { return index_; }
    friend auto operator<=>(const Wide&, const Wide&) = default;
  };
  // A key without a number.
  struct Bare {
    std::uint64_t bits = 0;
    std::uint64_t key() const { return bits; }
    friend auto operator<=>(const Bare&, const Bare&) = default;
  };
  template <typename Item>
  struct Lists {
    std::vector<Item> items, other;
  };

  template <typename Visit>
  void with_lists(Visit&& visit);
  template <typename Item>
  void sort_items(Lists<Item>& lists, ThreadPool& pool) const;
  template <typename Item>
  void radix_sort(std::span<Item> items, std::span<Item> other) const;

  int key_bits_;
  Lists<Packed> packed_;
  Lists<Wide> wide_;
  Lists<Bare> bare_;
};

}  // namespace heddle::cpu
