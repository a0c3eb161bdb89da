#include "heddle/layout.h"

#include <algorithm>

#include "heddle/hash.h"
#include "layout/digits.h"

namespace heddle {

using namespace detail;

std::string_view name(ReduceOp op) {
  static constexpr std::string_view names[] = {"sum", "product", "min", "max", "and", "or"};
  return names[static_cast<int>(op)];
}

namespace {

// Positions stay below this, so that sums of them never leave 64 bits.
constexpr std::int64_t kLargest = std::int64_t{1} << 61;

Dim extent_of_dims(const std::vector<DimInfo>& dims) {
  Dim padded = 1;
  for (const DimInfo& d : dims) padded = padded * d.padded;
  return padded;
}

Verdict check_dims(const LayoutParts& parts) {
  for (std::size_t d = 0; d < parts.dims.size(); ++d) {
    const DimInfo& dim = parts.dims[d];
    if (!dim.size.valid() || !dim.padded.valid()) return reason("dimension {} is too large", d);
    if (dim.size.factor() < 0)
      return reason("dimension {} has the negative size {}", d, show(dim.size));
    if (dim.padded.factor() < 1)
      return reason("dimension {} is padded to {}; a padded size is at least 1", d,
                    show(dim.padded));
    if (dim.halo_lo < 0 || dim.halo_hi < 0)
      return reason("dimension {} has a negative halo ({}:{})", d, dim.halo_lo, dim.halo_hi);
    for (std::int64_t v : {dim.origin, dim.halo_lo, dim.halo_hi})
      if (v > kLargest || v < -kLargest) return reason("dimension {} is too large", d);
  }
  const Dim padded = extent_of_dims(parts.dims);
  if (!padded.valid() || (padded.is_const() && padded.factor() > kLargest))
    return reason(
        "the tensor is too large: its sizes multiply past 2^61 elements, or name more than four "
        "sizes");
  return yes();
}

Verdict check_iters(const LayoutParts& parts) {
  std::vector<std::pair<AxisId, __int128>> reach;
  auto widen = [&](AxisId axis, __int128 by) {
    for (auto& [a, r] : reach)
      if (a == axis) {
        r += by;
        return;
      }
    reach.emplace_back(axis, by);
  };
  for (const auto* list : {&parts.digits, &parts.replicas, &parts.partials})
    for (const Iter& i : *list) {
      if (!i.extent.valid() || !i.stride.valid()) return reason("a digit is too large");
      if (i.extent.factor() < 1)
        return reason("a digit has extent {}; an extent is at least 1", show(i.extent));
      if (!i.stride.is_zero() && i.axis == kNoAxis)
        return reason("digit {} has a stride but no axis", show(i));
      __int128 far = static_cast<__int128>(i.stride.factor()) * (i.extent.factor() - 1);
      widen(i.axis, far < 0 ? -far : far);
    }
  for (const AxisOffset& o : parts.offset) {
    if (!o.value.valid()) return reason("an offset is too large");
    if (o.axis == kNoAxis && !o.value.is_zero())
      return reason("the offset {} has no axis", show(o.value));
    __int128 far = o.value.factor();
    widen(o.axis, far < 0 ? -far : far);
  }
  for (auto& [axis, r] : reach)
    if (r > kLargest) return reason("positions on one axis reach past 2^61");
  return yes();
}

bool is_concrete(const LayoutParts& parts) {
  for (const auto* list : {&parts.digits, &parts.replicas, &parts.partials})
    for (const Iter& i : *list)
      if (!i.extent.is_const() || !i.stride.is_const()) return false;
  for (const AxisOffset& o : parts.offset)
    if (!o.value.is_const()) return false;
  for (const DimInfo& d : parts.dims)
    if (!d.size.is_const() || !d.padded.is_const()) return false;
  return true;
}

// Drops swizzle bits that no address can set.
Verdict canonical_swizzle(LayoutParts& parts, bool concrete) {
  Swizzle& z = *parts.swizzle;
  if (z.shift < z.bits)
    return reason("a swizzle of {} bits needs a shift of at least {}; it has {}", z.bits, z.bits,
                  z.shift);
  if (z.base + z.shift + z.bits > 60) return reason("the swizzle reaches past bit 60");
  if (concrete) {
    Range r = range_on(parts, z.axis);
    bool halo = std::any_of(parts.dims.begin(), parts.dims.end(),
                            [](const DimInfo& d) { return d.has_halo(); });
    while (!halo && r.lo >= 0 && z.bits > 0 && (r.hi >> (z.base + z.shift + z.bits - 1)) == 0)
      --z.bits;
  }
  if (z.bits == 0) parts.swizzle.reset();
  return yes();
}

std::uint64_t hash_of(const LayoutParts& p) {
  std::uint64_t h = hash_mix(p.dims.size());
  for (const DimInfo& d : p.dims) {
    h = hash_combine(h, d.size.hash());
    h = hash_combine(h, d.padded.hash());
    h = hash_combine(h, static_cast<std::uint64_t>(d.origin));
    h = hash_combine(h, static_cast<std::uint64_t>(d.halo_lo));
    h = hash_combine(h, static_cast<std::uint64_t>(d.halo_hi));
  }
  for (const auto* list : {&p.digits, &p.replicas, &p.partials}) {
    h = hash_combine(h, list->size());
    for (const Iter& i : *list) {
      h = hash_combine(h, i.extent.hash());
      h = hash_combine(h, i.stride.hash());
      h = hash_combine(h, i.axis);
    }
  }
  h = hash_combine(h, static_cast<std::uint64_t>(p.reduce));
  for (const AxisOffset& o : p.offset) h = hash_combine(hash_combine(h, o.axis), o.value.hash());
  if (p.swizzle)
    h = hash_combine(h, (std::uint64_t{p.swizzle->axis} << 24) | (p.swizzle->bits << 16) |
                            (p.swizzle->base << 8) | p.swizzle->shift);
  return h;
}

}  // namespace

Layout::Layout() {
  static const Layout scalar = make({}).value();
  data_ = scalar.data_;
}

Expected<Layout> Layout::make(LayoutParts parts) {
  auto data = std::make_shared<Data>();
  HEDDLE_TRY_VOID(check_dims(parts));
  HEDDLE_TRY_VOID(check_iters(parts));
  Dim covered = extent_of(parts.digits);
  Dim padded = extent_of_dims(parts.dims);
  if (!(covered == padded))
    return reason("the digits cover {} elements and the dimensions {}", show(covered),
                  show(padded));
  canonical_digits(parts.digits);
  std::vector<AxisOffset> offset;
  for (const AxisOffset& o : parts.offset) HEDDLE_TRY_VOID(add_offset(offset, o.axis, o.value));
  HEDDLE_TRY_VOID(canonical_set(parts.replicas, true, offset));
  HEDDLE_TRY_VOID(canonical_set(parts.partials, false, offset));
  std::erase_if(offset, [](const AxisOffset& o) { return o.value.is_zero(); });
  std::sort(offset.begin(), offset.end(),
            [](const AxisOffset& a, const AxisOffset& b) { return a.axis < b.axis; });
  parts.offset = std::move(offset);
  if (parts.partials.empty()) parts.reduce = ReduceOp::sum;
  data->concrete = is_concrete(parts);
  if (parts.swizzle) HEDDLE_TRY_VOID(canonical_swizzle(parts, data->concrete));
  data->hash = hash_of(parts);
  data->parts = std::move(parts);
  return Layout(std::move(data));
}

bool operator==(const Layout& a, const Layout& b) {
  if (a.data_ == b.data_) return true;
  if (a.hash() != b.hash()) return false;
  const LayoutParts& x = a.parts();
  const LayoutParts& y = b.parts();
  return x.dims == y.dims && x.digits == y.digits && x.replicas == y.replicas &&
         x.partials == y.partials && x.reduce == y.reduce && x.offset == y.offset &&
         x.swizzle == y.swizzle;
}

Dim Layout::offset_on(AxisId axis) const {
  for (const AxisOffset& o : offset())
    if (o.axis == axis) return o.value;
  return 0;
}

std::vector<Dim> Layout::padded_shape() const {
  std::vector<Dim> shape;
  for (const DimInfo& d : dims()) shape.push_back(d.padded);
  return shape;
}

bool admits(const Layout& layout, std::span<const Dim> shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.factor() > 0; }) &&
         product(shape) == extent_of(layout.digits());
}

Expected<Dim> span(const Layout& layout, AxisId axis) {
  // A sum of sizes: coefficients per product of symbols. What survives must be one size.
  std::vector<Dim> terms = {Dim(1)};
  bool overflow = false;
  auto add = [&](const Dim& term) {
    overflow = overflow || !term.valid();
    for (Dim& t : terms)
      if (t.symbols() == term.symbols()) {
        auto s = t.is_zero() ? std::optional(term) : Dim::sum(t, term);
        if (!s) overflow = true;
        t = s.value_or(Dim::too_large());
        // A vanished term keeps no symbols and must not capture constants.
        return;
      }
    terms.push_back(term);
  };
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list) {
      if (i.axis != axis) continue;
      Dim s = i.stride.factor() < 0 ? -i.stride : i.stride;
      add(s * i.extent);
      add(-s);
    }
  std::erase_if(terms, [](const Dim& t) { return t.is_zero(); });
  if (overflow) return reason("the span is too large");
  if (terms.size() != 1)
    return reason(
        "the span depends on unknown sizes in a way that is no single size; bind them first");
  return terms[0];
}

bool covers(const Layout& layout) {
  // An empty tensor has nothing to cover.
  for (const DimInfo& d : layout.dims())
    if (d.size.is_zero()) return true;
  return std::all_of(layout.dims().begin(), layout.dims().end(), [](const DimInfo& d) {
    if (d.origin > 0) return false;
    if (d.size == d.padded) return d.origin == 0;
    return d.size.is_const() && d.padded.is_const() &&
           d.size.factor() - d.origin <= d.padded.factor();
  });
}

Verdict check_covers(const Layout& layout) {
  if (!layout.concrete() || covers(layout)) return yes();
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    const DimInfo& dim = layout.dims()[d];
    const std::int64_t end = dim.origin + dim.padded.factor();
    if (dim.origin <= 0 && end >= dim.size.factor()) continue;
    return reason("dimension {} has {} elements, and places only for {} to {}; {} pad={}", d,
                  dim.size.factor(), dim.origin, end - 1,
                  dim.origin > 0 ? "leave out the origin and write" : "write at least",
                  dim.size.factor() - std::min<std::int64_t>(dim.origin, 0));
  }
  return yes();
}

Expected<Layout> bind_sizes(const Layout& layout, const std::map<SymbolId, std::int64_t>& values) {
  for (const auto& [symbol, value] : values)
    if (value < 1) return reason("a symbolic size stands for {}; it must be at least 1", value);
  LayoutParts p = layout.parts();
  for (DimInfo& d : p.dims) {
    d.size = d.size.bind(values);
    d.padded = d.padded.bind(values);
  }
  for (auto* list : {&p.digits, &p.replicas, &p.partials})
    for (Iter& i : *list) {
      i.extent = i.extent.bind(values);
      i.stride = i.stride.bind(values);
    }
  for (AxisOffset& o : p.offset) o.value = o.value.bind(values);
  return Layout::make(std::move(p));
}

}  // namespace heddle
