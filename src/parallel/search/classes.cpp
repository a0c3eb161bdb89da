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
// makes layers different that are not: where that is most of them, one looks less far.
constexpr int kSteps = 12, kFewSteps = 6;
constexpr double kManyMore = 1.5;  // times the classes

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

// What cells look like after one step more. Sums, so that the order of neighbours makes no
// difference.
void look_further(const Cells& cells, std::vector<std::uint64_t>& looks) {
  std::vector<std::uint64_t> next = looks;
  for (const Bring& bring : cells.brings) {
    const auto from = static_cast<std::size_t>(bring.from), to = static_cast<std::size_t>(bring.to);
    const std::uint64_t look = look_of(bring);
    next[to] += hash_mix(hash_combine(looks[from], look));
    next[from] += hash_mix(hash_combine(looks[to] ^ 0x9e3779b97f4a7c15ULL, look));
  }
  looks = std::move(next);
}

// Numbers in the order in which they are met; the count of classes.
std::size_t number_classes(const std::vector<std::uint64_t>& looks, std::vector<int>& classes) {
  std::unordered_map<std::uint64_t, int> known;
  for (std::size_t i = 0; i < looks.size(); ++i)
    classes[i] = known.try_emplace(looks[i], static_cast<int>(known.size())).first->second;
  return known.size();
}

}  // namespace

std::vector<int> classes_of(const Cells& cells) {
  const std::size_t count = cells.cells.size();
  std::vector<int> classes(count);
  std::iota(classes.begin(), classes.end(), 0);
  if (count < kFew) return classes;
  std::vector<std::uint64_t> looks;
  for (const Cell& cell : cells.cells) looks.push_back(first_look(cell));
  for (int step = 0; step < kFewSteps; ++step) look_further(cells, looks);
  const std::size_t few = number_classes(looks, classes);
  for (int step = kFewSteps; step < kSteps; ++step) look_further(cells, looks);
  std::vector<int> many_classes(count);
  const std::size_t many = number_classes(looks, many_classes);
  const bool is_deep = static_cast<double>(many) >= kManyMore * static_cast<double>(few);
  return is_deep ? classes : many_classes;
}

}  // namespace heddle::search
