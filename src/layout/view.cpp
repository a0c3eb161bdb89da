#include "heddle/view.h"

#include <algorithm>

#include "layout/digits.h"

namespace heddle {

using namespace detail;

namespace {

// Matches runs of old and new dimensions of equal total size; uneven ones only match themselves.
Expected<std::vector<DimInfo>> reshaped(const std::vector<DimInfo>& old,
                                        const std::vector<Dim>& shape) {
  std::vector<DimInfo> dims;
  std::size_t o = 0;
  std::size_t n = 0;
  while (o < old.size() || n < shape.size()) {
    if (o < old.size() && !old[o].plain()) {
      if (n < shape.size() && shape[n].is(1) && !old[o].size.is(1)) {
        dims.emplace_back();
        ++n;
        continue;
      }
      if (n >= shape.size() || !(shape[n] == old[o].size))
        return reason(
            "[reshape] dimension {} (size {}, padded to {}) is uneven, shifted or has a halo: it "
            "must stay as it is",
            o, show(old[o].size), show(old[o].padded));
      dims.push_back(old[o++]);
      ++n;
      continue;
    }
    // One run: grow the smaller side until both agree, or up to the next uneven dimension.
    Dim a = 1;
    Dim b = 1;
    bool grown = false;
    while (!(a == b) || !grown) {
      grown = true;
      bool old_left = o < old.size() && old[o].plain();
      bool take_old = old_left && (Dim::divides(a, b) || n >= shape.size());
      if (take_old) {
        a = a * old[o++].size;
      } else if (n < shape.size()) {
        if (shape[n].factor() < 1)
          return reason("[reshape] dimension {} would have {} elements", n, show(shape[n]));
        b = b * shape[n];
        dims.push_back({shape[n], shape[n], 0, 0, 0});
        ++n;
      } else {
        return reason("[reshape] the shapes have different numbers of elements ({} and {})",
                      show(a), show(b));
      }
      if (!a.valid() || !b.valid()) return reason("[reshape] the shape is too large");
    }
  }
  return dims;
}

Expected<Layout> apply_step(const Layout& layout, const View::Reshape& v) {
  LayoutParts parts = layout.parts();
  HEDDLE_TRY(parts.dims, reshaped(layout.dims(), v.shape));
  return Layout::make(std::move(parts));
}

Expected<Layout> apply_step(const Layout& layout, const View::Transpose& v) {
  return permute(layout, v.order);
}

Expected<Layout> apply_step(const Layout& layout, const View::Broadcast& v) {
  if (v.dims.size() != layout.rank())
    return reason("[broadcast] {} dimensions are placed and the layout has {}", v.dims.size(),
                  layout.rank());
  HEDDLE_TRY(auto groups, group(layout, layout.padded_shape()));
  LayoutParts parts = layout.parts();
  parts.dims.clear();
  parts.digits.clear();
  std::vector<bool> used(layout.rank(), false);
  for (std::size_t r = 0; r < v.shape.size(); ++r) {
    auto at = std::find(v.dims.begin(), v.dims.end(), r);
    const std::size_t o = static_cast<std::size_t>(at - v.dims.begin());
    if (o < layout.rank() && layout.dims()[o].size == v.shape[r]) {
      parts.dims.push_back(layout.dims()[o]);
      parts.digits.insert(parts.digits.end(), groups[o].begin(), groups[o].end());
    } else if (o == layout.rank() || (layout.dims()[o].size.is(1) && layout.dims()[o].plain())) {
      if (v.shape[r].factor() < 1)
        return reason("[broadcast] dimension {} would have {} elements", r, show(v.shape[r]));
      parts.dims.push_back({v.shape[r], v.shape[r], 0, 0, 0});
      parts.digits.push_back({v.shape[r], 0, kNoAxis});
    } else {
      return reason("[broadcast] dimension {} has size {} and cannot stretch to {}", o,
                    show(layout.dims()[o].size), show(v.shape[r]));
    }
    if (o < layout.rank()) used[o] = true;
  }
  if (std::find(used.begin(), used.end(), false) != used.end())
    return reason("[broadcast] every dimension of the operand needs its own place in the result");
  return Layout::make(std::move(parts));
}

// Keeps the digits and moves the origin, so it always works.
Expected<Layout> window(const Layout& layout, const Index& start, const Index& size) {
  LayoutParts parts = layout.parts();
  for (std::size_t d = 0; d < parts.dims.size(); ++d) {
    parts.dims[d].size = size[d];
    parts.dims[d].origin -= start[d];
  }
  return Layout::make(std::move(parts));
}

Expected<Layout> apply_step(const Layout& layout, const View::Slice& v) {
  if (v.start.size() != layout.rank() || v.size.size() != layout.rank())
    return reason("[slice] {} starts and {} sizes for {} dimensions", v.start.size(), v.size.size(),
                  layout.rank());
  Index step = v.step.empty() ? Index(layout.rank(), 1) : v.step;
  if (step.size() != layout.rank())
    return reason("[slice] {} steps for {} dimensions", step.size(), layout.rank());
  for (std::size_t d = 0; d < step.size(); ++d) {
    if (step[d] < 1)
      return reason("[slice] the step of dimension {} is {}; it must be at least 1", d, step[d]);
    const Dim& n = layout.dims()[d].size;
    if (v.size[d] < 1) return reason("[slice] dimension {} would have {} elements", d, v.size[d]);
    if (!n.is_const()) return reason("[slice] dimension {} has an unknown size; bind it first", d);
    if (v.start[d] < 0 || v.size[d] > n.factor() ||
        v.start[d] > n.factor() - 1 - (v.size[d] - 1) * static_cast<__int128>(step[d]))
      return reason("[slice] {} elements from {} in steps of {} leave dimension {}, which has {}",
                    v.size[d], v.start[d], step[d], d, n.factor());
  }
  if (std::all_of(step.begin(), step.end(), [](std::int64_t s) { return s == 1; })) {
    auto tight = slice(layout, v.start, v.size);
    return tight ? tight : window(layout, v.start, v.size);
  }
  // Every step-th element: cut whole steps, then keep the first of each. Only those count, so where
  // the last step is cut short, the slowest digit may be thought longer.
  HEDDLE_TRY(auto digits, group(layout, layout.padded_shape()));
  LayoutParts room = layout.parts();
  room.digits.clear();
  Index whole = v.size;
  std::vector<Dim> interleaved;
  for (std::size_t d = 0; d < step.size(); ++d) {
    whole[d] = v.size[d] * step[d];
    DimInfo& dim = room.dims[d];
    const std::int64_t first = v.start[d] - dim.origin;
    const std::int64_t need = first + whole[d];
    if (first < 0 || need - step[d] >= dim.padded.factor())
      return reason("[slice] the layout holds only part of the slice in dimension {}", d);
    if (need > dim.padded.factor()) {
      if (digits[d].empty()) digits[d].push_back({1, 0, kNoAxis});
      const std::int64_t place = dim.padded.factor() / digits[d].front().extent.factor();
      digits[d].front().extent = (need + place - 1) / place;
      dim.padded = digits[d].front().extent * place;
    }
    dim.size = std::max(dim.size.factor(), v.start[d] + whole[d]);
    room.digits.insert(room.digits.end(), digits[d].begin(), digits[d].end());
    interleaved.push_back(v.size[d]);
    interleaved.push_back(step[d]);
  }
  HEDDLE_TRY(Layout roomy, Layout::make(std::move(room)));
  HEDDLE_TRY(Layout cut, slice(roomy, v.start, whole));
  HEDDLE_TRY(auto groups, group(cut, interleaved));
  LayoutParts parts = cut.parts();
  parts.digits.clear();
  for (std::size_t d = 0; d < step.size(); ++d) {
    parts.dims[d] = {v.size[d], v.size[d], 0, 0, 0};
    parts.digits.insert(parts.digits.end(), groups[2 * d].begin(), groups[2 * d].end());
  }
  return Layout::make(std::move(parts));
}

}  // namespace

View View::reshape(std::vector<Dim> shape) {
  View v;
  v.steps_.emplace_back(Reshape{std::move(shape)});
  return v;
}
View View::transpose(std::vector<std::size_t> order) {
  View v;
  v.steps_.emplace_back(Transpose{std::move(order)});
  return v;
}
View View::broadcast(std::vector<Dim> shape, std::vector<std::size_t> dims) {
  View v;
  v.steps_.emplace_back(Broadcast{std::move(shape), std::move(dims)});
  return v;
}
View View::slice(Index start, Index size, Index step) {
  View v;
  v.steps_.emplace_back(Slice{std::move(start), std::move(size), std::move(step)});
  return v;
}

View View::then(const View& next) const {
  View v = *this;
  v.steps_.insert(v.steps_.end(), next.steps_.begin(), next.steps_.end());
  return v;
}

Expected<Layout> compose(const Layout& layout, const View& view) {
  Layout at = layout;
  for (const View::Step& step : view.steps()) {
    auto next = std::visit([&](const auto& s) { return apply_step(at, s); }, step);
    if (!next) return next.why();
    at = *std::move(next);
  }
  return at;
}

}  // namespace heddle
