#include "parallel/search/classes.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

#include "heddle/hash.h"

namespace heddle::search {

namespace {

// Programs with fewer cells are searched as they are.
constexpr std::size_t kFew = 1500;
// How far one looks around a cell: less than a layer is deep, more than two equal parts of a layer
// are apart. Sums around blocks lead past two layers in four steps, so that what is further away
// makes most layers of a network different from each other.
constexpr int kSteps = 6;

std::uint64_t number(double value) { return std::bit_cast<std::uint64_t>(value); }

std::uint64_t first_look(const Cell& cell) {
  std::uint64_t h = hash_combine(static_cast<std::uint64_t>(cell.kind), number(cell.times));
  h = hash_combine(h, static_cast<std::uint64_t>(
                          cell.strategies != nullptr ? cell.strategies->number : cell.list));
  for (CostNetwork::Cost cost : cell.more) h = hash_combine(h, static_cast<std::uint64_t>(cost));
  return h;
}

std::uint64_t look_of(const Bring& bring) {
  std::uint64_t h = hash_combine(static_cast<std::uint64_t>(bring.from_list),
                                 static_cast<std::uint64_t>(bring.to_list));
  return hash_combine(hash_combine(h, static_cast<std::uint64_t>(bring.type)), number(bring.times));
}

}  // namespace

std::vector<int> classes_of(const Cells& cells) {
  const std::size_t count = cells.cells.size();
  std::vector<int> classes(count);
  std::iota(classes.begin(), classes.end(), 0);
  if (count < kFew) return classes;
  std::vector<std::uint64_t> looks;
  for (const Cell& cell : cells.cells) looks.push_back(first_look(cell));
  std::vector<std::uint64_t> next(count);
  for (int step = 0; step < kSteps; ++step) {
    next = looks;
    // Sums, so that the order of neighbours makes no difference.
    for (const Bring& bring : cells.brings) {
      const auto from = static_cast<std::size_t>(bring.from),
                 to = static_cast<std::size_t>(bring.to);
      const std::uint64_t look = look_of(bring);
      next[to] += hash_mix(hash_combine(looks[from], look));
      next[from] += hash_mix(hash_combine(looks[to] ^ 0x9e3779b97f4a7c15ULL, look));
    }
    std::swap(looks, next);
  }
  std::unordered_map<std::uint64_t, int> known;
  for (std::size_t i = 0; i < count; ++i)
    classes[i] = known.try_emplace(looks[i], static_cast<int>(known.size())).first->second;
  return classes;
}

}  // namespace heddle::search
