// Slicing a map given by digits, with an exact answer and in time that does not grow with sizes.
//
// Stepping from y to y+1 = z moves by a vector that depends only on the largest place value that
// divides z. A layout of [start, start+count) exists exactly where these steps, seen from `start`,
// again depend only on a chain of divisors of `count`; then that chain is its digits.
#include <algorithm>
#include <numeric>

#include "layout/digits.h"
#include "layout/map.h"

namespace heddle {

using namespace detail;

namespace {

using Wide = __int128;
using Vec = std::vector<std::int64_t>;  // one entry per axis of the dimension
using Steps = std::vector<Wide>;        // wide: a candidate may reach further than the whole

std::int64_t inverse_mod(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    std::int64_t q = r0 / r1;
    std::tie(r0, r1) = std::pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::pair(t1, t0 - q * t1);
  }
  return ((t0 % m) + m) % m;
}

// All x > 0 with x = 0 mod b and start + x = 0 mod a: first, first + period, … ; none if first = 0.
struct Progression {
  Wide first = 0, period = 0;
  std::int64_t below(std::int64_t limit) const {  // how many lie in (0, limit)
    if (first == 0 || first >= limit) return 0;
    return static_cast<std::int64_t>((limit - 1 - first) / period + 1);
  }
};

Progression meet(std::int64_t a, std::int64_t b, std::int64_t start) {
  std::int64_t g = std::gcd(a, b);
  if (start % g != 0) return {};
  std::int64_t m = a / g;
  Wide t =
      m == 1 ? Wide{0} : static_cast<Wide>((m - (start / g) % m) % m) * inverse_mod(b / g, m) % m;
  if (t == 0) t = m;
  return {t * b, static_cast<Wide>(m) * b};
}

// Digits of one dimension as place values and steps.
struct Ruler {
  std::vector<std::int64_t> place;  // outermost first
  std::vector<Steps> step;          // what a carry into this digit moves
};

Ruler ruler(const Digits& digits, const std::vector<AxisId>& axes) {
  Ruler r;
  std::int64_t place = 1;
  Steps wrapped(axes.size(), 0);  // what the inner digits give back when they wrap
  for (std::size_t i = digits.size(); i-- > 0;) {
    const Iter& d = digits[i];
    Steps v(axes.size(), 0);
    for (std::size_t a = 0; a < axes.size(); ++a)
      if (axes[a] == d.axis) v[a] = d.stride.factor();
    Steps step = v;
    for (std::size_t a = 0; a < v.size(); ++a) {
      step[a] -= wrapped[a];
      wrapped[a] += v[a] * (d.extent.factor() - 1);
    }
    r.place.insert(r.place.begin(), place);
    r.step.insert(r.step.begin(), std::move(step));
    place *= d.extent.factor();
  }
  return r;
}

Vec position(const Digits& digits, const std::vector<AxisId>& axes, std::int64_t flat) {
  Vec p(axes.size(), 0);
  for (std::size_t i = digits.size(); i-- > 0;) {
    for (std::size_t a = 0; a < axes.size(); ++a)
      if (axes[a] == digits[i].axis)
        p[a] += flat % digits[i].extent.factor() * digits[i].stride.factor();
    flat /= digits[i].extent.factor();
  }
  return p;
}

const Steps& step_at(const Ruler& r, std::int64_t z) {
  std::size_t i = 0;
  while (z % r.place[i] != 0) ++i;
  return r.step[i];
}

// The smallest x in (0, count), a multiple of p, where the step differs from `same`.
std::int64_t next_change(const Ruler& r, std::int64_t start, std::int64_t count, std::int64_t p,
                         const Steps& same) {
  std::int64_t best = count;
  for (std::size_t j = 0; j < r.place.size(); ++j) {
    if (r.step[j] == same) continue;
    Progression hits = meet(r.place[j], p, start);
    if (hits.first == 0) continue;
    // Of two neighbours at most one lies on a coarser mark, unless all do.
    for (int k = 0; k < 2; ++k) {
      Wide x = hits.first + k * hits.period;
      if (x >= best) break;
      if (j > 0 && (start + x) % r.place[j - 1] == 0) continue;
      best = static_cast<std::int64_t>(x);
      break;
    }
  }
  return best;
}

// Whether the two rulers agree at every x in (0, count).
bool agree(const Ruler& whole, std::int64_t start, const Ruler& part, std::int64_t count) {
  auto marks = [&](std::size_t j, std::size_t i) {  // shifted by one: 0 means "no coarser mark"
    if (j == 0 || i == 0) return std::int64_t{0};
    return meet(whole.place[j - 1], part.place[i - 1], start).below(count);
  };
  for (std::size_t j = 1; j <= whole.place.size(); ++j)
    for (std::size_t i = 1; i <= part.place.size(); ++i) {
      if (whole.step[j - 1] == part.step[i - 1]) continue;
      if (marks(j, i) - marks(j - 1, i) - marks(j, i - 1) + marks(j - 1, i - 1) != 0) return false;
    }
  return true;
}

Expected<Digits> slice_digits(const Digits& digits, std::int64_t start, std::int64_t count) {
  std::vector<AxisId> axes;
  for (const Iter& d : digits)
    if (d.axis != kNoAxis && std::find(axes.begin(), axes.end(), d.axis) == axes.end())
      axes.push_back(d.axis);
  Digits out;
  if (count == 1) return out;
  const Ruler whole = ruler(digits, axes);
  const Vec base = position(digits, axes, start);
  std::int64_t p = 1;
  while (p < count) {
    const Steps same = step_at(whole, start + p);
    std::int64_t next = next_change(whole, start, count, p, same);
    if (count % next != 0)
      return reason(
          "the {} elements from {} on change their pattern after {}, which does not divide {}",
          count, start, next, count);
    Vec far = position(digits, axes, start + p);
    Iter digit{next / p, 0, kNoAxis};
    for (std::size_t a = 0; a < axes.size(); ++a) {
      std::int64_t move = far[a] - base[a];
      if (move == 0) continue;
      if (digit.axis != kNoAxis)
        return reason("from {} on, a step of {} elements would move along two axes at once", start,
                      p);
      digit.axis = axes[a];
      digit.stride = move;
    }
    out.insert(out.begin(), digit);
    p = next;
  }
  if (!agree(whole, start, ruler(out, axes), count))
    return reason("the {} elements from {} on follow no single pattern of digits", count, start);
  return out;
}

Verdict check_slice(const Layout& layout, std::span<const std::int64_t> start,
                    std::span<const std::int64_t> size) {
  if (start.size() != layout.rank() || size.size() != layout.rank())
    return reason("[slice] {} starts and {} sizes for {} dimensions", start.size(), size.size(),
                  layout.rank());
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    const DimInfo& dim = layout.dims()[d];
    if (size[d] < 1) return reason("[slice] dimension {} would have {} elements", d, size[d]);
    if (!dim.size.is_const()) {
      return reason("[slice] dimension {} has the unknown size {}; bind it first", d,
                    show(dim.size));
    }
    if (start[d] < 0 || start[d] > dim.size.factor() - size[d])
      return reason("[slice] {} elements from {} on leave dimension {}, which has {}", size[d],
                    start[d], d, dim.size.factor());
    if (dim.has_halo()) return reason("[slice] dimension {} has a halo", d);
    std::int64_t u = start[d] - dim.origin;
    if (u < 0 || u + size[d] > dim.padded.factor())
      return reason("[slice] the layout holds only part of the slice in dimension {}", d);
  }
  return yes();
}

// Where dimensions do not separate, look at all elements as one flat dimension.
Expected<Layout> slice_flat(const Layout& layout, std::span<const std::int64_t> start,
                            std::span<const std::int64_t> size) {
  constexpr std::int64_t kMost = 1 << 16;
  std::int64_t count = 1;
  for (std::int64_t s : size) {
    count *= s;
    if (count > kMost)
      return reason("[slice] the dimensions do not separate and there are more than {} elements",
                    kMost);
  }
  LayoutParts bare = layout.parts();
  bare.replicas.clear();
  bare.partials.clear();
  bare.swizzle.reset();
  HEDDLE_TRY(Layout only_digits, Layout::make(std::move(bare)));
  LayoutMap map(only_digits);
  std::vector<Vec> table;
  for_each_index_of(size, [&](std::span<const std::int64_t> x) {
    Index y(x.begin(), x.end());
    for (std::size_t d = 0; d < y.size(); ++d) y[d] += start[d];
    table.push_back(map.at(y));
  });
  LayoutParts parts = layout.parts();
  parts.digits.clear();
  parts.dims.clear();
  for (std::int64_t s : size) parts.dims.push_back({s, s, 0, 0, 0});
  auto moved = [&](std::int64_t to, std::int64_t from) {
    Vec v = table[to];
    for (std::size_t a = 0; a < v.size(); ++a) v[a] -= table[from][a];
    return v;
  };
  for (std::int64_t p = 1; p < count;) {
    const Vec same = moved(p, p - 1);
    std::int64_t next = p;
    while (next < count && moved(next, next - 1) == same) next += p;
    next = std::min(next, count);
    if (count % next != 0) return reason("[slice] the slice follows no pattern of digits");
    Vec far = moved(p, 0);
    Iter digit{next / p, 0, kNoAxis};
    for (std::size_t a = 0; a < far.size(); ++a) {
      if (far[a] == 0) continue;
      if (digit.axis != kNoAxis) return reason("[slice] a step would move along two axes at once");
      digit = {digit.extent, far[a], map.axes()[a]};
    }
    parts.digits.insert(parts.digits.begin(), digit);
    p = next;
  }
  parts.offset.clear();
  for (std::size_t a = 0; a < map.axes().size(); ++a)
    parts.offset.push_back({map.axes()[a], table[0][a]});
  HEDDLE_TRY(Layout result, Layout::make(parts));
  parts.replicas.clear();
  parts.partials.clear();
  parts.swizzle.reset();
  HEDDLE_TRY(Layout check, Layout::make(std::move(parts)));
  LayoutMap got(check);
  std::size_t at = 0;
  bool right = true;
  for_each_index_of(size, [&](std::span<const std::int64_t> x) {
    Coord want = map.coord(table[at++]);
    Coord have = got.coord(got.at(x));
    for (const AxisValue& v : want) right = right && coord_on(have, v.axis) == v.value;
  });
  if (!right) return reason("[slice] the slice follows no pattern of digits");
  return result;
}

}  // namespace

Expected<Layout> slice(const Layout& layout, std::span<const std::int64_t> start,
                       std::span<const std::int64_t> size) {
  HEDDLE_TRY_VOID(check_slice(layout, start, size));
  if (!layout.concrete()) return reason("[slice] the layout has unknown sizes; bind them first");
  auto groups = group(layout, layout.padded_shape());
  if (!groups) return slice_flat(layout, start, size);
  LayoutParts parts = layout.parts();
  parts.digits.clear();
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    const Digits& digits = (*groups)[d];
    std::int64_t u = start[d] - layout.dims()[d].origin;
    auto cut = slice_digits(digits, u, size[d]);
    if (!cut) return reason("[slice] dimension {}: {}", d, cut.reason());
    parts.digits.insert(parts.digits.end(), cut->begin(), cut->end());
    parts.dims[d] = {size[d], size[d], 0, 0, 0};
    for (std::size_t i = digits.size(); i-- > 0;) {
      parts.offset.push_back({digits[i].axis, digits[i].stride * (u % digits[i].extent.factor())});
      u /= digits[i].extent.factor();
    }
  }
  std::erase_if(parts.offset, [](const AxisOffset& o) { return o.value.is_zero(); });
  return Layout::make(std::move(parts));
}

}  // namespace heddle
