#include "device/cpu/key_order.h"

#include <algorithm>
#include <array>

#include "cost/fitted.h"
#include "cost/sharing.h"

namespace heddle::cpu {

namespace {

constexpr int kDigitBits = 8;  // whose counts stay in the first cache

template <typename Item>
void write_order(const std::vector<Item>& items, Order& order) {
  order.resize(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) order[i] = items[i].index();
}

}  // namespace

// By digits from the lowest on, each time in the order of the time before.
template <typename Item>
void KeyOrder::radix_sort(std::span<Item> items, std::span<Item> other) const {
  if (items.size() < cost::kFewKeys) return std::sort(items.begin(), items.end());
  constexpr std::uint64_t kDigits = 1 << kDigitBits;
  const auto digit = [](const Item& item, int shift) {
    return (item.key() >> shift) & (kDigits - 1);
  };
  std::span<Item> from = items, to = other;
  for (int shift = 0; shift < key_bits_; shift += kDigitBits) {
    std::array<std::uint32_t, kDigits> next{};
    for (const Item& item : from) ++next[digit(item, shift)];
    if (next[digit(from[0], shift)] == from.size()) continue;  // all alike here
    std::uint32_t sum = 0;
    for (std::uint32_t& n : next) sum += std::exchange(n, sum);
    for (const Item& item : from) to[next[digit(item, shift)]++] = item;
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::copy(from.begin(), from.end(), items.begin());
}

// Sorted runs that workers made, joined two by two.
template <typename Item>
void KeyOrder::sort_items(Lists<Item>& lists, ThreadPool& pool) const {
  const std::span<Item> items = lists.items;
  lists.other.resize(items.size());
  std::size_t runs = 1;
  if (items.size() >= static_cast<std::size_t>(cost::kLongLine))
    while (runs < static_cast<std::size_t>(pool.threads())) runs *= 2;
  const auto border = [&](std::size_t r) { return items.size() * r / runs; };
  const auto run_of = [&](std::vector<Item>& list, std::size_t first, std::size_t end) {
    return std::span(list).subspan(border(first), border(end) - border(first));
  };
  pool.parallel_for(static_cast<std::int64_t>(runs), [&](std::int64_t i, int) {
    const auto r = static_cast<std::size_t>(i);
    radix_sort(run_of(lists.items, r, r + 1), run_of(lists.other, r, r + 1));
  });
  for (std::size_t width = 1; width < runs; width *= 2) {
    pool.parallel_for(static_cast<std::int64_t>(runs / (2 * width)), [&](std::int64_t pair, int) {
      const std::size_t first = static_cast<std::size_t>(pair) * 2 * width;
      const auto left = run_of(lists.items, first, first + width);
      const auto right = run_of(lists.items, first + width, first + 2 * width);
      std::merge(left.begin(), left.end(), right.begin(), right.end(),
                 run_of(lists.other, first, first + 2 * width).begin());
    });
    lists.items.swap(lists.other);
  }
}

template <typename Visit>
void KeyOrder::with_lists(Visit&& visit) {
  if (key_bits_ <= 32) return visit(packed_);
  visit(wide_);
}

void KeyOrder::sort(std::span<const std::uint64_t> keys, Order& order, ThreadPool& pool) {
  with_lists([&]<typename Item>(Lists<Item>& lists) {
    lists.items.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) lists.items[i] = Item(keys[i], i);
    sort_items(lists, pool);
    write_order(lists.items, order);
  });
}

void KeyOrder::sort_keys(std::span<std::uint64_t> keys, ThreadPool& pool) {
  bare_.items.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) bare_.items[i].bits = keys[i];
  sort_items(bare_, pool);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = bare_.items[i].bits;
}

void KeyOrder::first(std::span<const std::uint64_t> keys, std::size_t count, Order& order) {
  with_lists([&]<typename Item>(Lists<Item>& lists) {
    // The best so far, as a heap; most of the others are worse than the worst of these.
    auto& best = lists.items;
    best.clear();
    for (std::size_t i = 0; i < count; ++i) best.push_back(Item(keys[i], i));
    std::make_heap(best.begin(), best.end());
    for (std::size_t i = count; i < keys.size(); ++i) {
      if (keys[i] >= best.front().key()) continue;
      std::pop_heap(best.begin(), best.end());
      best.back() = Item(keys[i], i);
      std::push_heap(best.begin(), best.end());
    }
    std::sort_heap(best.begin(), best.end());
    write_order(best, order);
  });
}

}  // namespace heddle::cpu
