#include "heddle/affine_view.h"

#include <algorithm>
#include <numeric>

#include "heddle/error.h"

namespace heddle {

namespace {

std::vector<std::int64_t> dense_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

std::int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

AffineView AffineView::whole(Shape shape) {
  AffineView view;
  view.strides = dense_strides(shape);
  view.shape = std::move(shape);
  return view;
}

std::int64_t AffineView::elements() const { return product(shape); }

bool AffineView::is_dense() const {
  std::int64_t step = 1;
  for (std::size_t d = rank(); d-- > 0;) {
    if (shape[d] == 0) return true;
    if (shape[d] != 1 && strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

std::int64_t AffineView::place(const Shape& index) const {
  return std::inner_product(index.begin(), index.end(), strides.begin(), offset);
}

AffineView AffineView::sliced(std::size_t d, std::int64_t start, std::int64_t step,
                              std::int64_t size) const {
  AffineView view = *this;
  if (size > 0) view.offset += start * strides[d];
  view.strides[d] *= step;
  view.shape[d] = size;
  return view;
}

AffineView AffineView::at(std::size_t d, std::int64_t index) const {
  AffineView view = *this;
  view.offset += index * strides[d];
  view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(d));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(d));
  return view;
}

AffineView AffineView::with_new_dim(std::size_t before) const {
  AffineView view = *this;
  view.shape.insert(view.shape.begin() + static_cast<std::ptrdiff_t>(before), 1);
  view.strides.insert(view.strides.begin() + static_cast<std::ptrdiff_t>(before), 0);
  return view;
}

AffineView AffineView::transposed(const std::vector<std::size_t>& order) const {
  AffineView view;
  view.offset = offset;
  for (std::size_t d : order) {
    view.shape.push_back(shape[d]);
    view.strides.push_back(strides[d]);
  }
  return view;
}

std::optional<AffineView> AffineView::broadcast(const Shape& to) const {
  if (to.size() < rank()) return {};
  AffineView view;
  view.offset = offset;
  view.shape = to;
  view.strides.assign(to.size(), 0);
  const std::size_t added = to.size() - rank();
  for (std::size_t d = 0; d < rank(); ++d) {
    if (shape[d] == to[added + d])
      view.strides[added + d] = strides[d];
    else if (shape[d] != 1)
      return {};
  }
  return view;
}

// Dimensions are walked from the left on both sides, as NumPy does it: as few as hold equally many
// elements belong together, and those of the view must continue one another.
std::optional<AffineView> AffineView::reshaped(const Shape& to) const {
  if (product(to) != elements()) return {};
  if (elements() == 0) return whole(to);
  Shape sizes;
  std::vector<std::int64_t> steps;
  for (std::size_t d = 0; d < rank(); ++d) {
    if (shape[d] == 1) continue;
    sizes.push_back(shape[d]);
    steps.push_back(strides[d]);
  }
  AffineView view;
  view.offset = offset;
  view.shape = to;
  view.strides.assign(to.size(), 0);
  std::size_t from = 0, into = 0;
  while (from < sizes.size()) {
    std::size_t from_end = from + 1, into_end = into;
    std::int64_t have = sizes[from], want = 1;
    while (want != have) {
      if (want < have)
        want *= to[into_end++];
      else
        have *= sizes[from_end++];
    }
    for (std::size_t d = from; d + 1 < from_end; ++d)
      if (steps[d] != steps[d + 1] * sizes[d + 1]) return {};
    std::int64_t step = steps[from_end - 1];
    for (std::size_t d = into_end; d-- > into;) {
      view.strides[d] = step;
      step *= to[d];
    }
    from = from_end;
    into = into_end;
  }
  return view;
}

bool BoxView::is_whole() const {
  for (std::size_t d = 0; d < base.size(); ++d)
    if (ranges[d].size != base[d]) return false;
  return true;
}

namespace {

// The view as a box of the store with these sizes: every dimension of the view has to stay within
// one of them.
std::optional<BoxView> fit(const AffineView& view, const Shape& base) {
  const std::vector<std::int64_t> steps = dense_strides(base);
  BoxView box;
  box.base = base;
  box.ranges.resize(base.size());
  std::int64_t lowest = view.offset;
  for (std::size_t d = 0; d < view.rank(); ++d)
    lowest += std::min<std::int64_t>(view.strides[d], 0) * (view.shape[d] - 1);
  for (std::size_t b = 0; b < base.size(); ++b) {
    box.ranges[b].start = lowest / steps[b];
    lowest %= steps[b];
  }
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const std::int64_t step = std::abs(view.strides[d]), size = view.shape[d];
    box.from.push_back(-1);
    if (step == 0 || size == 1) continue;
    for (std::size_t b = 0; b < base.size(); ++b) {
      BoxView::Range& range = box.ranges[b];
      if (step % steps[b] != 0 || range.size != 1) continue;
      const std::int64_t by = step / steps[b];
      if (range.start + by * (size - 1) >= base[b]) continue;
      range = {range.start, by, size, view.strides[d] < 0};
      box.from.back() = static_cast<int>(b);
      break;
    }
    if (box.from.back() < 0) return {};
  }
  return box;
}

// The sizes under which the view's own strides are those of whole dimensions, as after a reshape.
std::optional<Shape> own_base(const AffineView& view, std::int64_t elements) {
  std::vector<std::int64_t> steps;
  for (std::size_t d = 0; d < view.rank(); ++d)
    if (view.shape[d] > 1 && view.strides[d] != 0) steps.push_back(std::abs(view.strides[d]));
  std::ranges::sort(steps, std::greater<>());
  Shape base;
  std::int64_t outer = elements;
  for (std::int64_t step : steps) {
    if (outer % step != 0) return {};
    base.push_back(outer / step);
    outer = step;
  }
  if (outer > 1) base.push_back(outer);
  return base;
}

}  // namespace

std::optional<BoxView> find_box(const AffineView& view, const Shape& shape) {
  HEDDLE_CHECK(view.elements() > 0, "a view of nothing has no box");
  if (auto box = fit(view, shape)) return box;
  const std::int64_t elements = product(shape);
  if (const auto base = own_base(view, elements))
    if (auto box = fit(view, *base)) return box;
  return fit(view, {elements});
}

}  // namespace heddle
