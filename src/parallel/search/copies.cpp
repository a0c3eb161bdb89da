#include "parallel/search/copies.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace heddle::search {

namespace {

// From the first use of a split of a value to the last one.
struct Uses {
  std::int64_t first = INT64_MAX, last = -1, bytes = 0;
  void add(std::int64_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

class Counter {
 public:
  Counter(const Cells& cells, const std::vector<int>& ways, SplitLists& lists,
          const std::vector<std::int64_t>& let_go)
      : cells_(cells),
        ways_(ways),
        lists_(lists),
        let_go_(let_go),
        sums_(static_cast<std::size_t>(cells.ops) + 2, 0) {}

  std::vector<std::int64_t> run() {
    find_uses();
    for (const Held& held : cells_.held) add_held(held);
    for (const auto& [key, uses] : copies_) add(uses.first, uses.last + 1, uses.bytes);
    std::partial_sum(sums_.begin(), sums_.end(), sums_.begin());
    return std::move(sums_);
  }

 private:
  // A value, the split that it is used in, and how often copies have been let go before.
  using Key = std::tuple<ValueId, int, std::ptrdiff_t>;

  std::size_t way(int cell) const {
    return static_cast<std::size_t>(ways_[static_cast<std::size_t>(cell)]);
  }

  void find_uses() {
    for (const Bring& bring : cells_.brings) {
      if (bring.value == kNone || bring.used == 0) continue;
      const int from = lists_[bring.from_list][way(bring.from)],
                to = lists_[bring.to_list][way(bring.to)];
      if (from == to) {
        as_it_lies_[bring.value].add(bring.used);
        continue;
      }
      elsewhere_[bring.value].add(bring.used);
      const std::int64_t here = lists_.bytes(bring.from_list, bring.type)[way(bring.from)],
                         there = lists_.bytes(bring.to_list, bring.type)[way(bring.to)];
      const bool may_stay = there < here;
      const auto part =
          may_stay ? 0 : std::ranges::upper_bound(let_go_, bring.used) - let_go_.begin();
      Uses& copy = copies_[Key{bring.value, to, part}];
      copy.add(bring.used);
      copy.bytes = there;
    }
  }

  // What everybody takes elsewhere is there until it was brought there.
  void add_held(const Held& held) {
    const std::int64_t bytes = lists_.bytes(held.list, held.type)[way(held.cell)];
    std::int64_t end = held.end;
    if (held.value != kNone && !as_it_lies_.contains(held.value))
      if (const auto moved = elsewhere_.find(held.value); moved != elsewhere_.end())
        end = std::clamp(moved->second.first + 1, held.begin + 1, held.end);
    add(held.begin, end, bytes);
  }

  void add(std::int64_t begin, std::int64_t end, std::int64_t bytes) {
    sums_[static_cast<std::size_t>(begin)] += bytes;
    sums_[static_cast<std::size_t>(end)] -= bytes;
  }

  const Cells& cells_;
  const std::vector<int>& ways_;
  SplitLists& lists_;
  const std::vector<std::int64_t>& let_go_;
  std::map<ValueId, Uses> as_it_lies_, elsewhere_;
  std::map<Key, Uses> copies_;
  std::vector<std::int64_t> sums_;
};

}  // namespace

std::vector<std::int64_t> held_with_copies(const Cells& cells, const std::vector<int>& ways,
                                           SplitLists& lists,
                                           const std::vector<std::int64_t>& let_go) {
  return Counter(cells, ways, lists, let_go).run();
}

}  // namespace heddle::search
