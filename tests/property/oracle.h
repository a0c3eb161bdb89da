// What a layout means, by counting, straight from the definition at the top of heddle/layout.h.
// Uses the fields of LayoutParts and no function of the library.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "heddle/layout.h"

namespace heddle::property {

// A position: one number per axis id. Axis ids of the tests are below kAxes.
inline constexpr std::size_t kAxes = 24;
using Place = std::array<std::int32_t, kAxes>;

inline std::int64_t number(const Dim& dim) {
  if (!dim.is_const()) throw std::logic_error("the oracle needs known sizes");
  return dim.factor();
}

inline void move(Place& place, AxisId axis, std::int64_t by) {
  if (by == 0) return;
  if (axis >= kAxes) throw std::logic_error("the oracle does not know the axis");
  place[axis] += static_cast<std::int32_t>(by);
}

inline Place plus(Place a, const Place& b) {
  for (std::size_t i = 0; i < kAxes; ++i) a[i] += b[i];
  return a;
}

// All sums of one value of each iter, with repetitions.
inline std::vector<Place> moves_of(const std::vector<Iter>& iters) {
  std::vector<Place> all = {Place{}};
  for (const Iter& iter : iters) {
    std::vector<Place> next;
    for (const Place& place : all)
      for (std::int64_t d = 0; d < number(iter.extent); ++d) {
        next.push_back(place);
        move(next.back(), iter.axis, d * number(iter.stride));
      }
    all = std::move(next);
  }
  return all;
}

template <typename T>
std::vector<T> distinct(std::vector<T> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

// x with bits [base, base+bits) flipped where bits [base+shift, base+shift+bits) are set.
inline std::int64_t swizzled(const Swizzle& z, std::int64_t x) {
  for (int bit = 0; bit < z.bits; ++bit) {
    const std::int64_t from = std::int64_t{1} << (z.base + z.shift + bit);
    const std::int64_t low = ((x % (2 * from)) + 2 * from) % (2 * from);
    if (low >= from) x ^= std::int64_t{1} << (z.base + bit);
  }
  return x;
}

// The copies of one contribution: a set of places. The cells of x: its contributions in order.
using Copies = std::vector<Place>;
using Cells = std::vector<Copies>;

class Oracle {
 public:
  explicit Oracle(const LayoutParts& parts)
      : copies_(distinct(moves_of(parts.replicas))),
        contributions_(moves_of(parts.partials)),
        swizzle_(parts.swizzle) {
    for (const DimInfo& dim : parts.dims) {
      size.push_back(number(dim.size));
      padded.push_back(number(dim.padded));
      origin.push_back(dim.origin);
      elements *= padded.back();
    }
    for (const AxisOffset& o : parts.offset) move(offset_, o.axis, number(o.value));
    for (const Iter& i : parts.digits)
      digits_.push_back({number(i.extent), number(i.stride), i.axis});
  }
  explicit Oracle(const Layout& layout) : Oracle(layout.parts()) {}

  // D(u) + offset for the flat u, before a swizzle.
  Place affine(std::int64_t flat) const {
    Place place = offset_;
    for (std::size_t i = digits_.size(); i-- > 0;) {
      move(place, digits_[i].axis, flat % digits_[i].extent * digits_[i].stride);
      flat /= digits_[i].extent;
    }
    return place;
  }
  Place swizzle(Place place) const {
    if (swizzle_ && swizzle_->axis < kAxes)
      place[swizzle_->axis] = static_cast<std::int32_t>(swizzled(*swizzle_, place[swizzle_->axis]));
    return place;
  }
  Cells cells(std::int64_t flat) const {
    const Place base = affine(flat);
    Cells all;
    for (const Place& p : contributions_) {
      Copies copies;
      for (const Place& r : copies_) copies.push_back(swizzle(plus(plus(base, p), r)));
      all.push_back(distinct(std::move(copies)));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  // All cells of the flat u in one list, sorted.
  std::vector<Place> all_cells(std::int64_t flat) const {
    std::vector<Place> all;
    for (const Copies& copies : cells(flat)) all.insert(all.end(), copies.begin(), copies.end());
    std::sort(all.begin(), all.end());
    return all;
  }
  // Where x lies in the padded box; none where x is not valid or has no cell.
  std::optional<std::int64_t> flat(const Index& x) const {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < size.size(); ++d) {
      const std::int64_t u = x[d] - origin[d];
      if (x[d] < 0 || x[d] >= size[d] || u < 0 || u >= padded[d]) return std::nullopt;
      at = at * padded[d] + u;
    }
    return at;
  }

  const std::vector<Place>& copies() const { return copies_; }
  const std::vector<Place>& contributions() const { return contributions_; }

  Index size, padded, origin;
  std::int64_t elements = 1;  // of the padded box

 private:
  struct Digit {
    std::int64_t extent, stride;
    AxisId axis;
  };
  std::vector<Digit> digits_;
  std::vector<Place> copies_, contributions_;
  Place offset_{};
  std::optional<Swizzle> swizzle_;
};

// Visits every index of a box in row-major order.
template <typename Visit>
void each_index(const Index& shape, Visit visit) {
  std::int64_t count = 1;
  for (const std::int64_t s : shape) count *= std::max<std::int64_t>(s, 0);
  Index x(shape.size());
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t rest = n;
    for (std::size_t d = shape.size(); d-- > 0;) {
      x[d] = rest % shape[d];
      rest /= shape[d];
    }
    visit(static_cast<const Index&>(x));
  }
}

inline std::int64_t flatten(const Index& shape, const Index& x) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + x[d];
  return at;
}

// Equal on the whole padded box, with the same dimensions and the same meaning of contributions.
inline bool same_map(const LayoutParts& a, const LayoutParts& b) {
  const Oracle left(a);
  const Oracle right(b);
  if (a.dims != b.dims) return false;
  if (left.contributions().size() > 1 && a.reduce != b.reduce) return false;
  for (std::int64_t u = 0; u < left.elements; ++u)
    if (left.cells(u) != right.cells(u)) return false;
  return true;
}
inline bool same_map(const Layout& a, const Layout& b) { return same_map(a.parts(), b.parts()); }

// Every way to write n as an ordered product of factors of at least 2.
inline const std::vector<Index>& factorizations(std::int64_t n) {
  static std::map<std::int64_t, std::vector<Index>> known;
  if (auto it = known.find(n); it != known.end()) return it->second;
  std::vector<Index> all;
  if (n == 1) all.emplace_back();
  for (std::int64_t first = 2; first <= n; ++first) {
    if (n % first != 0) continue;
    for (const Index& rest : factorizations(n / first)) {
      Index list = {first};
      list.insert(list.end(), rest.begin(), rest.end());
      all.push_back(std::move(list));
    }
  }
  return known[n] = std::move(all);
}

// The digits with these extents that give table[u] - table[0] for all u, if there are any. One step
// of a digit fixes its stride, so each list of extents has at most one list of strides.
inline std::optional<Digits> digits_of_table(const std::vector<Place>& table,
                                             const Index& extents) {
  Digits digits;
  std::int64_t place = static_cast<std::int64_t>(table.size());
  for (const std::int64_t extent : extents) {
    place /= extent;
    Iter digit{extent, 0, kNoAxis};
    if (extent > 1)
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const std::int64_t by = table[static_cast<std::size_t>(place)][axis] - table[0][axis];
        if (by == 0) continue;
        if (digit.axis != kNoAxis) return std::nullopt;
        digit = {extent, by, static_cast<AxisId>(axis)};
      }
    digits.push_back(digit);
  }
  LayoutParts parts;
  parts.digits = digits;
  const Oracle oracle(parts);
  for (std::size_t u = 0; u < table.size(); ++u)
    if (plus(oracle.affine(static_cast<std::int64_t>(u)), table[0]) != table[u])
      return std::nullopt;
  return digits;
}

// Whether any digits give this table: tries every list of extents.
inline bool some_digits_give(const std::vector<Place>& table) {
  for (const Index& extents : factorizations(static_cast<std::int64_t>(table.size())))
    if (digits_of_table(table, extents)) return true;
  return false;
}

// The pieces of `digits` inside each entry of `shape`, by place values; none where a boundary of
// the shape falls into a digit that does not divide there.
inline std::optional<std::vector<Digits>> cut_digits(const Digits& digits, const Index& shape) {
  std::vector<Digits> pieces(shape.size());
  std::int64_t total = 1;
  for (const Iter& i : digits) total *= number(i.extent);
  std::int64_t top = total;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 1 || top % shape[d] != 0) return std::nullopt;
    const std::int64_t bottom = top / shape[d];
    std::int64_t place = total;
    for (const Iter& i : digits) {
      const std::int64_t above = place;
      place /= number(i.extent);
      const std::int64_t from = std::max(place, bottom);
      const std::int64_t to = std::min(above, top);
      if (from >= to) continue;
      if (from % place != 0 || to % from != 0 || above % to != 0) return std::nullopt;
      pieces[d].push_back({to / from, number(i.stride) * (from / place), i.axis});
    }
    top = bottom;
  }
  if (top != 1) return std::nullopt;
  return pieces;
}

// Whether a set of positions is { sum of i_k * s_k } where each s_k steps past all smaller sums.
inline bool counts_up(std::vector<std::int64_t> positions, std::int64_t past = 0) {
  if (positions.size() <= 1) return true;
  const std::int64_t low = positions[0];
  const std::int64_t stride = positions[1] - low;
  if (stride <= past) return false;
  std::int64_t run = 0;
  while (std::binary_search(positions.begin(), positions.end(), low + run * stride)) ++run;
  std::vector<std::int64_t> starts;
  std::set<std::int64_t> left(positions.begin(), positions.end());
  while (!left.empty()) {
    const std::int64_t start = *left.begin();
    for (std::int64_t i = 0; i < run; ++i)
      if (left.erase(start + i * stride) == 0) return false;
    starts.push_back(start);
  }
  return counts_up(std::move(starts), run * stride);
}

}  // namespace heddle::property
