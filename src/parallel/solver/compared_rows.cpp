#include "parallel/solver/compared_rows.h"

#include <algorithm>
#include <limits>

#include "parallel/solver/rows.h"

namespace heddle::solver {

namespace {

constexpr Cost kMin = std::numeric_limits<Cost>::min(), kMax = std::numeric_limits<Cost>::max();

// The most that one row has more than the other where the other is allowed; kMin where it never
// is, kMax where the one is forbidden there.
Cost most_more(std::span<const Cost> better, std::span<const Cost> worse) {
  Cost most = kMin;
  for (std::size_t y = 0; y < worse.size(); ++y) {
    if (worse[y] == kForbidden) continue;
    if (better[y] == kForbidden) return kMax;
    most = std::max(most, better[y] - worse[y]);
  }
  return most;
}

}  // namespace

void ComparedRows::add_neighbour(std::size_t width, std::vector<Cost> rows) {
  Neighbour made{width, true, std::move(rows), {}};
  for (std::size_t x = 0; x < values_; ++x) {
    Range range{kMax, kMin};
    for (const Cost cost : made.row(static_cast<int>(x))) {
      made.complete = made.complete && cost != kForbidden;
      if (cost == kForbidden) continue;
      range.least = std::min(range.least, cost);
      range.most = std::max(range.most, cost);
    }
    made.ranges.push_back(range);
  }
  neighbours_.push_back(std::move(made));
}

// Where nothing is forbidden, rows differ by what their largest, or their least, entries do at
// least. Elsewhere by the least ones: where `value` is cheapest `other` may be forbidden, which is
// more still.
Cost ComparedRows::Neighbour::least_more(int value, int other) const {
  const Range &from = ranges[static_cast<std::size_t>(value)],
              &to = ranges[static_cast<std::size_t>(other)];
  if (complete) return std::max(to.most - from.most, to.least - from.least);
  if (from.least == kMax) return kMin / 4;  // it is never allowed
  return to.least == kMax ? kMax / 4 : to.least - from.least;
}

bool ComparedRows::is_worse(int value, int other, Cost own_more) const {
  Cost sum = own_more;
  for (const Neighbour& n : neighbours_) {
    const Cost least = n.least_more(value, other);
    if (least == kMin / 4) return true;
    if (least == kMax / 4) return false;
    sum += least;
  }
  // Guesses become what they are, one by one.
  for (const Neighbour& n : neighbours_) {
    if (sum > 0) return false;
    const Cost least = n.least_more(value, other);
    const Cost most =
        n.complete ? most_above(n.row(other).data(), n.row(value).data(), n.width, least - sum)
                   : most_more(n.row(other), n.row(value));
    if (most == kMax) return false;
    sum += most - least;
  }
  return sum <= 0;
}

}  // namespace heddle::solver
