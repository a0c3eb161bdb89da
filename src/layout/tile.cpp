#include <algorithm>
#include <bit>

#include "layout/digits.h"

namespace heddle {

using namespace detail;

namespace {

// How far one step of the outer layout goes on each axis: span(inner), or 1 for a direct sum.
using Scale = std::vector<AxisOffset>;

Expected<Scale> span_scale(const Layout& inner) {
  Scale scale;
  for (AxisId axis : axes_of(inner)) {
    HEDDLE_TRY(Dim s, span(inner, axis));
    scale.push_back({axis, s});
  }
  return scale;
}

Dim scale_on(const Scale& scale, AxisId axis) {
  for (const AxisOffset& s : scale)
    if (s.axis == axis) return s.value;
  return 1;
}

Digits scaled(Digits iters, const Scale& scale) {
  for (Iter& i : iters) i.stride = i.stride * scale_on(scale, i.axis);
  return iters;
}

Expected<Digits> unscaled(Digits iters, const Scale& scale, const char* op) {
  for (Iter& i : iters) {
    Dim w = scale_on(scale, i.axis);
    if (!Dim::divides(w, i.stride))
      return reason("[{}] the stride {} is no multiple of the inner span {}", op, show(i.stride),
                    show(w));
    i.stride = Dim::quotient(i.stride, w);
  }
  return iters;
}

Verdict check_inner(const Layout& inner, const char* op) {
  for (std::size_t d = 0; d < inner.rank(); ++d)
    if (!inner.dims()[d].plain())
      return reason(
          "[{}] dimension {} of the inner layout has padding, origin or halo; only the "
          "outer one may",
          op, d);
  return yes();
}

// Dimensions of the whole: the outer's, times the inner's size.
Expected<std::vector<DimInfo>> whole_dims(const Layout& outer, const Layout& inner,
                                          const char* op) {
  if (outer.rank() != inner.rank())
    return reason("[{}] the outer layout has {} dimensions and the inner {}", op, outer.rank(),
                  inner.rank());
  HEDDLE_TRY_VOID(check_inner(inner, op));
  std::vector<DimInfo> dims = outer.dims();
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Dim t = inner.dims()[d].size;
    if (dims[d].has_halo())
      return reason("[{}] dimension {} of the outer layout has a halo", op, d);
    dims[d].size = dims[d].size * t;
    dims[d].padded = dims[d].padded * t;
    Dim origin = Dim(dims[d].origin) * t;
    if (!origin.is_const())
      return reason("[{}] the origin of dimension {} would be symbolic", op, d);
    dims[d].origin = origin.factor();
  }
  return dims;
}

// Dimensions that give `dims` when multiplied by `by`.
Expected<std::vector<DimInfo>> divided_dims(const std::vector<DimInfo>& dims,
                                            const std::vector<Dim>& by, const char* op) {
  std::vector<DimInfo> out = dims;
  for (std::size_t d = 0; d < out.size(); ++d) {
    const Dim& t = by[d];
    if (out[d].has_halo()) return reason("[{}] dimension {} has a halo", op, d);
    if (!Dim::divides(t, out[d].size) || !Dim::divides(t, out[d].padded) ||
        !Dim::divides(t, Dim(out[d].origin)))
      return reason("[{}] dimension {} ({} elements) does not divide by {}", op, d,
                    show(out[d].size), show(t));
    out[d].size = Dim::quotient(out[d].size, t);
    out[d].padded = Dim::quotient(out[d].padded, t);
    out[d].origin = Dim::quotient(Dim(out[d].origin), t).factor();
  }
  return out;
}

// Whether every step of `parts` on `axis`, its offset too, is a multiple of n.
bool steps_by(const LayoutParts& parts, AxisId axis, std::int64_t n) {
  for (const auto* list : {&parts.digits, &parts.replicas, &parts.partials})
    for (const Iter& i : *list)
      if (i.axis == axis && i.stride.factor() % n != 0) return false;
  return std::all_of(parts.offset.begin(), parts.offset.end(), [&](const AxisOffset& o) {
    return o.axis != axis || o.value.factor() % n == 0;
  });
}

// The swizzle of the whole, where swizzling the parts first gives the same addresses.
Expected<std::optional<Swizzle>> whole_swizzle(const Layout& outer, const Layout& inner,
                                               const Scale& scale, const char* op) {
  std::optional<Swizzle> none;
  if (!outer.swizzle() && !inner.swizzle()) return none;
  if (outer.swizzle() && inner.swizzle())
    return reason("[{}] both layouts are swizzled; two swizzles do not combine", op);
  if (!outer.concrete() || !inner.concrete())
    return reason("[{}] bind unknown sizes before a swizzle", op);
  if (inner.swizzle()) {
    const Swizzle z = *inner.swizzle();
    LayoutParts steps = outer.parts();
    for (auto* list : {&steps.digits, &steps.replicas, &steps.partials})
      *list = scaled(*list, scale);
    for (AxisOffset& o : steps.offset) o.value = o.value * scale_on(scale, o.axis);
    if (!steps_by(steps, z.axis, z.period()))
      return reason("[{}] the outer layout steps inside the inner swizzle, which repeats every {}",
                    op, z.period());
    return std::optional(z);
  }
  Swizzle z = *outer.swizzle();
  const auto w = static_cast<std::uint64_t>(scale_on(scale, z.axis).factor());
  if (!std::has_single_bit(w))
    return reason("[{}] the outer swizzle needs an inner span that is a power of two, not {}", op,
                  w);
  z.base = static_cast<std::uint8_t>(z.base + std::countr_zero(w));
  // The inner layout must stay below the bits that move, and the outer one must step over it.
  const Range r = range_on(inner.parts(), z.axis);
  const auto room = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(r.hi, 0)) + 1));
  if (r.lo < 0 || room > std::int64_t{1} << z.base)
    return reason("[{}] the inner layout reaches into the bits that the outer swizzle moves", op);
  if (!steps_by(outer.parts(), z.axis,
                std::max<std::int64_t>(1, room / static_cast<std::int64_t>(w))))
    return reason("[{}] the outer layout steps inside the inner one, below its swizzle", op);
  return std::optional(z);
}

// outer(x) scaled plus inner(y), dimension by dimension interleaved.
Expected<Layout> combine(const Layout& outer, const Layout& inner, const Scale& scale,
                         const char* op) {
  LayoutParts whole;
  HEDDLE_TRY(whole.dims, whole_dims(outer, inner, op));
  HEDDLE_TRY(auto outer_groups, group(outer, outer.padded_shape()));
  HEDDLE_TRY(auto inner_groups, group(inner, inner.padded_shape()));
  auto append = [](Digits& to, const Digits& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::size_t d = 0; d < outer.rank(); ++d) {
    append(whole.digits, scaled(outer_groups[d], scale));
    append(whole.digits, inner_groups[d]);
  }
  whole.replicas = scaled(outer.replicas(), scale);
  append(whole.replicas, inner.replicas());
  if (!outer.partials().empty() && !inner.partials().empty() && outer.reduce() != inner.reduce())
    return reason("[{}] one layout has a pending {} and the other a pending {}", op,
                  name(outer.reduce()), name(inner.reduce()));
  whole.reduce = outer.partials().empty() ? inner.reduce() : outer.reduce();
  whole.partials = scaled(outer.partials(), scale);
  append(whole.partials, inner.partials());
  for (const AxisOffset& o : outer.offset())
    whole.offset.push_back({o.axis, o.value * scale_on(scale, o.axis)});
  for (const AxisOffset& o : inner.offset()) whole.offset.push_back(o);
  HEDDLE_TRY(whole.swizzle, whole_swizzle(outer, inner, scale, op));
  return Layout::make(std::move(whole));
}

// The outer layout, given the whole and the inner one.
Expected<Layout> outer_of(const Layout& whole, const Layout& inner, const Scale& scale,
                          const char* op) {
  if (whole.rank() != inner.rank())
    return reason("[{}] the whole has {} dimensions and the inner layout {}", op, whole.rank(),
                  inner.rank());
  HEDDLE_TRY_VOID(check_inner(inner, op));
  std::vector<Dim> inner_shape = inner.padded_shape();
  LayoutParts outer;
  HEDDLE_TRY(outer.dims, divided_dims(whole.dims(), inner_shape, op));
  std::vector<Dim> interleaved;
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    interleaved.push_back(outer.dims[d].padded);
    interleaved.push_back(inner_shape[d]);
  }
  HEDDLE_TRY(auto groups, group(whole, interleaved));
  HEDDLE_TRY(auto inner_groups, group(inner, inner_shape));
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    Digits tail = groups[2 * d + 1];
    canonical_digits(tail);
    Digits want = inner_groups[d];
    canonical_digits(want);
    if (tail != want)
      return reason(
          "[{}] the fastest {} elements of dimension {} do not lie as the inner layout says", op,
          show(inner_shape[d]), d);
    HEDDLE_TRY(Digits head, unscaled(groups[2 * d], scale, op));
    outer.digits.insert(outer.digits.end(), head.begin(), head.end());
  }
  HEDDLE_TRY(Digits replicas, set_quotient(whole.replicas(), inner.replicas()));
  HEDDLE_TRY(outer.replicas, unscaled(std::move(replicas), scale, op));
  HEDDLE_TRY(Digits partials, set_quotient(whole.partials(), inner.partials()));
  HEDDLE_TRY(outer.partials, unscaled(std::move(partials), scale, op));
  outer.reduce = whole.reduce();
  std::vector<AxisOffset> offset = whole.offset();
  for (const AxisOffset& o : inner.offset()) HEDDLE_TRY_VOID(add_offset(offset, o.axis, -o.value));
  for (AxisOffset& o : offset) {
    Dim w = scale_on(scale, o.axis);
    if (!Dim::divides(w, o.value))
      return reason("[{}] the offset {} is no multiple of the inner span {}", op, show(o.value),
                    show(w));
    o.value = Dim::quotient(o.value, w);
  }
  outer.offset = std::move(offset);
  if (whole.swizzle() && !inner.swizzle()) {
    Swizzle z = *whole.swizzle();
    Dim w = scale_on(scale, z.axis);
    if (!w.is_const() || !std::has_single_bit(static_cast<std::uint64_t>(w.factor())))
      return reason("[{}] the swizzle does not divide by the inner span {}", op, show(w));
    int low = std::countr_zero(static_cast<std::uint64_t>(w.factor()));
    if (low > z.base) return reason("[{}] the swizzle moves bits inside the inner layout", op);
    z.base = static_cast<std::uint8_t>(z.base - low);
    outer.swizzle = z;
  }
  HEDDLE_TRY(Layout result, Layout::make(std::move(outer)));
  // The candidate is the only one possible; it is right where it gives the whole back.
  auto again = combine(result, inner, scale, op);
  if (!again) return again.why();
  if (!(*again == whole)) return reason("[{}] the whole is not built from this inner layout", op);
  return result;
}

}  // namespace

Expected<Layout> tile(const Layout& outer, const Layout& inner) {
  HEDDLE_TRY(Scale scale, span_scale(inner));
  return combine(outer, inner, scale, "tile");
}

Expected<Layout> untile(const Layout& whole, const Layout& inner) {
  HEDDLE_TRY(Scale scale, span_scale(inner));
  return outer_of(whole, inner, scale, "untile");
}

Expected<Layout> direct_sum(const Layout& outer, const Layout& inner) {
  return combine(outer, inner, {}, "sum");
}

Expected<Layout> unsum(const Layout& whole, const Layout& inner) {
  return outer_of(whole, inner, {}, "unsum");
}

Expected<Layout> untile_outer(const Layout& whole, const Layout& outer) {
  constexpr const char* op = "untile_outer";
  if (whole.rank() != outer.rank())
    return reason("[{}] the whole has {} dimensions and the outer layout {}", op, whole.rank(),
                  outer.rank());
  LayoutParts inner;
  std::vector<Dim> interleaved;
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    const Dim by = outer.dims()[d].padded;
    if (!Dim::divides(by, whole.dims()[d].padded))
      return reason("[{}] dimension {} ({}) does not divide by {}", op, d,
                    show(whole.dims()[d].padded), show(by));
    Dim t = Dim::quotient(whole.dims()[d].padded, by);
    inner.dims.push_back({t, t, 0, 0, 0});
    interleaved.push_back(by);
    interleaved.push_back(t);
  }
  HEDDLE_TRY(auto groups, group(whole, interleaved));
  for (std::size_t d = 0; d < whole.rank(); ++d)
    inner.digits.insert(inner.digits.end(), groups[2 * d + 1].begin(), groups[2 * d + 1].end());
  // span(tile(A, B)) = span(A) * span(B) on every axis, so the scale is known.
  Scale scale;
  for (AxisId axis : axes_of(whole)) {
    HEDDLE_TRY(Dim all, span(whole, axis));
    HEDDLE_TRY(Dim part, span(outer, axis));
    if (!Dim::divides(part, all))
      return reason("[{}] the outer span {} does not divide the whole's {}", op, show(part),
                    show(all));
    scale.push_back({axis, Dim::quotient(all, part)});
  }
  HEDDLE_TRY(inner.replicas, set_quotient(whole.replicas(), scaled(outer.replicas(), scale)));
  HEDDLE_TRY(inner.partials, set_quotient(whole.partials(), scaled(outer.partials(), scale)));
  inner.reduce = whole.reduce();
  inner.offset = whole.offset();
  for (const AxisOffset& o : outer.offset())
    HEDDLE_TRY_VOID(add_offset(inner.offset, o.axis, -(o.value * scale_on(scale, o.axis))));
  if (whole.swizzle() && !outer.swizzle()) inner.swizzle = whole.swizzle();
  HEDDLE_TRY(Layout result, Layout::make(std::move(inner)));
  auto again = tile(outer, result);
  if (!again) return again.why();
  if (!(*again == whole)) return reason("[{}] the whole is not built over this outer layout", op);
  return result;
}

}  // namespace heddle
