#include "parallel/search/move_pattern.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <optional>

namespace heddle::search {

namespace {

struct DimPair {
  DimSplit from, to;
  friend auto operator<=>(const DimPair&, const DimPair&) = default;
};

// Digits of a dimension from the major end on, of which the first may be cut.
class DigitReader {
 public:
  explicit DigitReader(const DimSplit& dim) : digits_(dim.digits) {
    if (digits_.empty()) digits_.push_back({dim.size});
    skip_ones();
  }
  bool is_over() const { return at_ == digits_.size(); }
  std::int64_t left() const { return digits_[at_].extent; }
  // The major part of what is left, of so many positions.
  SplitDigit take(std::int64_t extent) {
    SplitDigit& digit = digits_[at_];
    digit.extent /= extent;
    const SplitDigit taken{extent, digit.axis, digit.local() ? 1 : digit.stride * digit.extent};
    skip_ones();
    return taken;
  }

 private:
  void skip_ones() {
    while (at_ < digits_.size() && digits_[at_].extent == 1) ++at_;
  }
  std::vector<SplitDigit> digits_;
  std::size_t at_ = 0;
};

DimSplit alone(const SplitDigit& digit) {
  return digit.local() ? DimSplit{digit.extent, {}} : DimSplit{digit.extent, {digit}};
}

// None where blocks are uneven, or those of one side do not nest with the other's.
std::optional<std::vector<DimPair>> in_digits(const DimSplit& from, const DimSplit& to) {
  if (from.padded() != from.size || to.padded() != to.size) return std::nullopt;
  std::vector<DimPair> digits;
  DigitReader before(from), after(to);
  while (!before.is_over() && !after.is_over()) {
    const std::int64_t common = std::gcd(before.left(), after.left());
    if (common == 1) return std::nullopt;
    const SplitDigit one = before.take(common), other = after.take(common);
    if (!one.local() || !other.local()) digits.push_back({alone(one), alone(other)});
  }
  return digits;
}

}  // namespace

MovePattern pattern_of(const Split& from, const Split& to) {
  std::vector<DimPair> dims;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const DimSplit &before = from.dims[d], &after = to.dims[d];
    if (before.digits.empty() && after.digits.empty()) continue;
    if (auto digits = in_digits(before, after))
      dims.insert(dims.end(), digits->begin(), digits->end());
    else
      dims.push_back({before, after});
  }
  std::ranges::sort(dims);
  MovePattern pattern;
  for (DimPair& dim : dims) {
    pattern.from.dims.push_back(std::move(dim.from));
    pattern.to.dims.push_back(std::move(dim.to));
  }
  pattern.from.pending = from.pending;
  pattern.to.pending = to.pending;
  if (!from.pending.empty()) pattern.from.reduce = pattern.to.reduce = from.reduce;
  return pattern;
}

}  // namespace heddle::search
