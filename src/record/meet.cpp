// How two views of one store meet.
#include <algorithm>
#include <numeric>

#include "heddle/affine_view.h"

namespace heddle {

namespace {

struct Interval {
  std::int64_t low, high;
};
Interval extent(const AffineView& view) {
  Interval all{view.offset, view.offset};
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const std::int64_t way = view.strides[d] * (view.shape[d] - 1);
    (way < 0 ? all.low : all.high) += way;
  }
  return all;
}

bool is_same(const AffineView& a, const AffineView& b) {
  if (a.offset != b.offset || a.shape != b.shape) return false;
  for (std::size_t d = 0; d < a.rank(); ++d)
    if (a.shape[d] > 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

// All places of a view are its offset and multiples of this apart.
std::int64_t grid(const AffineView& view) {
  std::int64_t step = 0;
  for (std::size_t d = 0; d < view.rank(); ++d)
    if (view.shape[d] > 1) step = std::gcd(step, view.strides[d]);
  return step;
}

// Whether two progressions of whole numbers have none in common: by their ends, and by what is left
// when their steps are divided by.
bool apart(const BoxView::Range& a, const BoxView::Range& b) {
  const std::int64_t a_end = a.start + a.step * (a.size - 1),
                     b_end = b.start + b.step * (b.size - 1);
  if (a_end < b.start || b_end < a.start) return true;
  const std::int64_t step =
      a.size == 1 ? (b.size == 1 ? 0 : b.step) : std::gcd(a.step, b.size == 1 ? 0 : b.step);
  return step == 0 ? a.start != b.start : (a.start - b.start) % step != 0;
}

bool is_disjoint(const AffineView& a, const AffineView& b, const Shape& shape) {
  const Interval x = extent(a), y = extent(b);
  if (x.high < y.low || y.high < x.low) return true;
  const std::int64_t step = std::gcd(grid(a), grid(b));
  if (step == 0 ? a.offset != b.offset : (a.offset - b.offset) % step != 0) return true;
  const auto p = find_box(a, shape), q = find_box(b, shape);
  if (!p || !q || p->base != q->base) return false;
  for (std::size_t d = 0; d < p->base.size(); ++d)
    if (apart(p->ranges[d], q->ranges[d])) return true;
  return false;
}

// How far b begins from a, in steps of their common strides; the widest strides take what they can.
std::optional<std::vector<std::int64_t>> shift(const AffineView& a, const AffineView& b,
                                               const Shape& shape) {
  if (a.shape != b.shape || a.strides != b.strides) return {};
  const auto p = find_box(a, shape), q = find_box(b, shape);
  if (!p || !q || p->base != q->base) return {};
  std::vector<std::int64_t> delta(a.rank(), 0);
  std::vector<bool> used(p->base.size(), false);
  for (std::size_t d = 0; d < a.rank(); ++d) {
    const int at = p->from[d];
    if (at < 0) continue;
    const auto b_dim = static_cast<std::size_t>(at);
    const BoxView::Range &from = p->ranges[b_dim], &to = q->ranges[b_dim];
    used[b_dim] = true;
    const std::int64_t way = to.start - from.start;
    if (way % from.step != 0) return {};
    delta[d] = way / from.step * (from.reversed ? -1 : 1);
  }
  for (std::size_t d = 0; d < used.size(); ++d)
    if (!used[d] && p->ranges[d].start != q->ranges[d].start) return {};
  return delta;
}

}  // namespace

Meeting meet(const AffineView& a, const AffineView& b, const Shape& shape) {
  using Kind = Meeting::Kind;
  if (a.elements() == 0 || b.elements() == 0) return {Kind::disjoint, {}};
  if (is_same(a, b)) return {Kind::same, {}};
  if (is_disjoint(a, b, shape)) return {Kind::disjoint, {}};
  if (auto delta = shift(a, b, shape)) return {Kind::halo, *std::move(delta)};
  return {};
}

}  // namespace heddle
