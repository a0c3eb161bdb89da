#include "parallel/search/move_pattern.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <optional>

namespace heddle::search {

namespace {

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

// None where blocks of one side do not nest with the other's. Uneven ones do where both sides have
// the same room at the end, as what is whole gets by a copy.
std::optional<std::vector<DimPair>> in_digits(DimSplit from, DimSplit to) {
  if (from.digits.empty()) from.size = to.padded();
  if (to.digits.empty()) to.size = from.padded();
  if (from.padded() != to.padded()) return std::nullopt;
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

// How large a dimension is makes no difference but for which blocks are uneven: as if there were
// many elements for each.
DimPair of_usual_size(const DimSplit& from, const DimSplit& to) {
  constexpr std::int64_t kMany = 16;
  if (!from.is_block() || !to.is_block()) return {from, to};
  const SplitAxes before = from.axes(), after = to.axes();
  const std::int64_t blocks = total(before), others = total(after);
  const auto is_alike = [&](std::int64_t size) {
    return (size % blocks == 0) == (from.size % blocks == 0) &&
           (size % others == 0) == (from.size % others == 0);
  };
  std::int64_t size = kMany * std::max(blocks, others);
  while (!is_alike(size)) ++size;
  return {DimSplit::blocks(size, before), DimSplit::blocks(size, after)};
}

// What a move does to one dimension.
std::vector<DimPair> pairs_in(const DimSplit& from, const DimSplit& to) {
  if (from.digits.empty() && to.digits.empty()) return {};
  if (auto digits = in_digits(from, to)) return *std::move(digits);
  return {of_usual_size(from, to)};
}

template <typename Key>
int number_of(std::map<Key, int>& known, const Key& key) {
  return known.try_emplace(key, static_cast<int>(known.size())).first->second;
}

}  // namespace

MovePattern pattern_of(const Split& from, const Split& to) {
  std::vector<DimPair> dims;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const std::vector<DimPair> pairs = pairs_in(from.dims[d], to.dims[d]);
    dims.insert(dims.end(), pairs.begin(), pairs.end());
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

Uneven uneven_parts(const Split& from, const Split& to) {
  Uneven found;
  double before = 1, after = 1;  // elements of one device
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const DimSplit &a = from.dims[d], &b = to.dims[d];
    const std::int64_t padded = std::max(a.padded(), b.padded());
    found.room *=
        static_cast<double>(padded) / static_cast<double>(std::max<std::int64_t>(a.size, 1));
    before *= static_cast<double>(a.local());
    after *= static_cast<double>(b.local());
  }
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const DimSplit &a = from.dims[d], &b = to.dims[d];
    if (a.padded() == b.padded()) continue;
    if (a.digits.empty()) found.copied = before;
    if (b.digits.empty()) found.copied_last = after;
  }
  return found;
}

const PatternKeys::Parts& PatternKeys::parts_of(int split) {
  const auto place = static_cast<std::size_t>(split);
  if (parts_.size() <= place) parts_.resize(place + 1);
  Parts& parts = parts_[place];
  if (parts.pending >= 0) return parts;
  const Split& meant = splits_[split];
  for (const DimSplit& dim : meant.dims) {
    const int number = number_of(dims_, dim);
    if (static_cast<std::size_t>(number) == dims_by_number_.size()) dims_by_number_.push_back(dim);
    parts.dims.push_back(number);
  }
  const bool any = !meant.pending.empty();
  parts.pending = number_of(pending_, {meant.pending, any ? meant.reduce : ReduceOp::sum});
  return parts;
}

const std::vector<int>& PatternKeys::pairs_of(int from, int to) {
  const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<unsigned>(to);
  const auto [known, is_new] = pairs_.try_emplace(key);
  if (is_new)
    for (const DimPair& pair : pairs_in(dims_by_number_[static_cast<std::size_t>(from)],
                                        dims_by_number_[static_cast<std::size_t>(to)]))
      known->second.push_back(number_of(numbers_, pair));
  return known->second;
}

const std::vector<int>& PatternKeys::of(int from, int to) {
  parts_of(std::max(from, to));  // so that neither moves
  const Parts &before = parts_of(from), &after = parts_of(to);
  key_.clear();
  for (std::size_t d = 0; d < before.dims.size(); ++d) {
    const std::vector<int>& pairs = pairs_of(before.dims[d], after.dims[d]);
    key_.insert(key_.end(), pairs.begin(), pairs.end());
  }
  std::ranges::sort(key_);
  key_.push_back(before.pending);
  key_.push_back(after.pending);
  return key_;
}

}  // namespace heddle::search
