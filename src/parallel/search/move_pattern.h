// What a move changes, apart from how large the value is.
#pragma once

#include <map>
#include <unordered_map>

#include "heddle/price.h"
#include "heddle/split.h"

namespace heddle::search {

struct MovePattern {
  Split from, to;
};

// The same move of a small value: each digit that one of the two splits counts along an axis is a
// dimension by itself, and what lies on every device before and after is left out. So it is with
// uneven blocks, where both sides have the same room behind them or one is whole. Where blocks do
// not nest, the dimension has a size of its own. Moves that differ only in sizes, in what is left
// out, or in the order of dimensions, have one pattern.
MovePattern pattern_of(const Split& from, const Split& to);

// What a move of uneven blocks has beside its pattern.
struct Uneven {
  double room = 1;  // elements are so many times as many
  // Elements that a device copies to where there is room, and back at the end.
  double copied = 0, copied_last = 0;
};
Uneven uneven_parts(const Split& from, const Split& to);

// A dimension, or one digit of it, before and after.
struct DimPair {
  DimSplit from, to;
  friend auto operator<=>(const DimPair&, const DimPair&) = default;
};

// Tells patterns apart without making them: very many moves have few of them.
class PatternKeys {
 public:
  explicit PatternKeys(const SplitTable& splits) : splits_(splits) {}

  // Equal for two moves only if they have one pattern. It holds until the next call.
  const std::vector<int>& of(int from, int to);

 private:
  struct Parts {
    std::vector<int> dims;
    int pending = -1;  // not looked at yet
  };
  const Parts& parts_of(int split);
  const std::vector<int>& pairs_of(int from, int to);

  const SplitTable& splits_;
  std::vector<Parts> parts_;  // by split
  std::map<DimSplit, int> dims_;
  std::vector<DimSplit> dims_by_number_;
  std::map<std::pair<SplitAxes, ReduceOp>, int> pending_;
  std::map<DimPair, int> numbers_;
  std::unordered_map<std::uint64_t, std::vector<int>> pairs_;  // of two dimensions
  std::vector<int> key_;
};

}  // namespace heddle::search
