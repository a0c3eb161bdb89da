// Stretches of a list that come again and again, as the layers of a network do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::report {

// `count` entries from `first` on, of which the same come `times` times in a row. What comes once
// has nothing inside; of the others, the first one's entries are inside, folded again.
struct Fold {
  std::size_t first = 0, count = 0, times = 1;
  std::vector<Fold> inside = {};
  friend bool operator==(const Fold&, const Fold&) = default;
};

// Equal numbers are equal entries. The folds cover all entries, in order.
std::vector<Fold> fold_repeats(std::span<const std::uint64_t> entries);

}  // namespace heddle::report
