#include "heddle/past_calls.h"

#include <algorithm>

namespace heddle::record {

void PastCalls::add(std::span<const std::uint64_t> calls) {
  calls_.insert(calls_.end(), calls.begin(), calls.end());
  if (calls_.size() > kMost)
    calls_.erase(calls_.begin(), calls_.end() - static_cast<std::ptrdiff_t>(kMost / 2));
}

// same[d]: for how many calls back from the last one each is as the one d before it. In one pass:
// what is known of an earlier stretch holds inside of it too.
std::size_t PastCalls::turn() const {
  const std::size_t n = calls_.size();
  const auto back = [&](std::size_t i) { return calls_[n - 1 - i]; };
  std::vector<std::size_t> same(n, 0);
  std::size_t best = 0;
  for (std::size_t d = 1, left = 0, right = 0; d < n; ++d) {
    std::size_t length = d < right ? std::min(right - d, same[d - left]) : 0;
    while (d + length < n && back(length) == back(d + length)) ++length;
    same[d] = length;
    if (d + length > right) {
      left = d;
      right = d + length;
    }
    if (length >= d && (best == 0 || length > same[best])) best = d;
  }
  return best;
}

bool PastCalls::repeats(std::size_t turn, std::size_t calls) const {
  if (turn + calls > calls_.size()) return false;
  const auto from = calls_.end() - static_cast<std::ptrdiff_t>(calls);
  return std::equal(from, calls_.end(), from - static_cast<std::ptrdiff_t>(turn));
}

}  // namespace heddle::record
