#include "report/fold.h"

#include <algorithm>
#include <unordered_map>

namespace heddle::report {

namespace {

// Shorter repeats are easier to read as they are.
constexpr std::size_t kLeastFolded = 12;
constexpr int kDeepest = 4;

// Lengths that a repeat may have: how far equal entries are apart, those that cover most first.
std::vector<std::size_t> periods_of(std::span<const std::uint64_t> entries) {
  constexpr std::size_t kMost = 48;
  std::unordered_map<std::uint64_t, std::size_t> last;
  std::unordered_map<std::size_t, std::size_t> covered;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (const auto before = last.find(entries[i]); before != last.end())
      covered[i - before->second] += i - before->second;
    last[entries[i]] = i;
  }
  std::vector<std::pair<std::size_t, std::size_t>> order(covered.begin(), covered.end());
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::size_t> periods;
  for (std::size_t i = 0; i < order.size() && i < kMost; ++i) periods.push_back(order[i].first);
  return periods;
}

// Every longest stretch that repeats itself.
std::vector<Fold> stretches_of(std::span<const std::uint64_t> entries) {
  std::vector<Fold> found;
  for (const std::size_t period : periods_of(entries)) {
    std::size_t equal = 0;  // entries from here on that come again one period later
    for (std::size_t i = entries.size() - period; i-- > 0;) {
      equal = entries[i] == entries[i + period] ? equal + 1 : 0;
      const bool is_longest = i == 0 || entries[i - 1] != entries[i - 1 + period];
      const std::size_t times = equal / period + 1;
      if (is_longest && times > 1 && times * period >= kLeastFolded)
        found.push_back({i, period, times});
    }
  }
  std::ranges::sort(found, [](const Fold& a, const Fold& b) {
    const std::size_t all_a = a.count * a.times, all_b = b.count * b.times;
    if (all_a != all_b) return all_a > all_b;
    return a.count != b.count ? a.count < b.count : a.first < b.first;
  });
  return found;
}

std::vector<Fold> folded(std::span<const std::uint64_t> entries, std::size_t first, int depth) {
  std::vector<bool> taken(entries.size(), false);
  std::vector<Fold> folds;
  if (depth < kDeepest)
    for (const Fold& one : stretches_of(entries)) {
      const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(one.first);
      const auto end = begin + static_cast<std::ptrdiff_t>(one.count * one.times);
      if (std::find(begin, end, true) != end) continue;
      std::fill(begin, end, true);
      folds.push_back(
          {one.first + first, one.count, one.times,
           folded(entries.subspan(one.first, one.count), one.first + first, depth + 1)});
    }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t begin = i;
    while (i < entries.size() && !taken[i]) ++i;
    if (i > begin) folds.push_back({begin + first, i - begin});
  }
  std::ranges::sort(folds, {}, &Fold::first);
  return folds;
}

}  // namespace

std::vector<Fold> fold_repeats(std::span<const std::uint64_t> entries) {
  return folded(entries, 0, 0);
}

}  // namespace heddle::report
