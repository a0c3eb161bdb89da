#include "layout/digits.h"

#include <algorithm>

namespace heddle::detail {

std::string show(const Dim& dim) {
  if (!dim.valid()) return "(too large)";
  if (dim.is_const()) return std::to_string(dim.factor());
  std::string text = dim.factor() == 1 ? "" : std::to_string(dim.factor()) + "*";
  for (int i = 0; i < Dim::kMaxSymbols && dim.symbols()[i] != 0; ++i)
    text += fmt::format("{}${}", i == 0 ? "" : "*", dim.symbols()[i]);
  return text;
}

std::string show(const Iter& iter) {
  return fmt::format("{}:{}@{}", show(iter.extent), show(iter.stride),
                     iter.axis == kNoAxis ? "-" : "#" + std::to_string(iter.axis));
}

void canonical_digits(Digits& digits) {
  std::size_t out = 0;
  for (Iter it : digits) {
    if (it.extent.is(1)) continue;
    if (it.stride.is_zero()) it.axis = kNoAxis;
    if (out > 0) {
      Iter& left = digits[out - 1];
      if (left.axis == it.axis && left.stride == it.extent * it.stride) {
        left = {left.extent * it.extent, it.stride, it.axis};
        continue;
      }
    }
    digits[out++] = it;
  }
  digits.resize(out);
}

Verdict add_offset(std::vector<AxisOffset>& offset, AxisId axis, const Dim& value) {
  if (value.is_zero()) return yes();
  for (AxisOffset& o : offset) {
    if (o.axis != axis) continue;
    auto total = Dim::sum(o.value, value);
    if (!total)
      return reason("the offsets {} and {} on one axis have no sum that is a plain size",
                    show(o.value), show(value));
    o.value = *total;
    return yes();
  }
  offset.push_back({axis, value});
  return yes();
}

namespace {

// Merges b into a where the sum of both sets is one arithmetic progression.
bool absorb(Iter& a, const Iter& b, bool overlap_is_one) {
  if (a.axis != b.axis) return false;
  if (b.stride == a.extent * a.stride) {
    a.extent = a.extent * b.extent;
    return true;
  }
  if (!overlap_is_one || !Dim::divides(a.stride, b.stride)) return false;
  Dim q = Dim::quotient(b.stride, a.stride);
  if (!q.is_const() || !a.extent.is_const() || !b.extent.is_const()) return false;
  if (q.factor() > a.extent.factor()) return false;
  auto grown = Dim::sum(a.extent, q * (*Dim::sum(b.extent, -1)));
  a.extent = grown ? *grown : Dim::too_large();
  return true;
}

}  // namespace

Verdict canonical_set(Digits& iters, bool overlap_is_one, std::vector<AxisOffset>& offset) {
  std::erase_if(iters, [&](const Iter& i) {
    return i.extent.is(1) || (overlap_is_one && i.stride.is_zero());
  });
  if (iters.empty()) return yes();
  if (iters.size() > 64) return reason("more than 64 lists of copies or partials");
  for (Iter& i : iters) {
    if (i.stride.is_zero())
      return reason("{} partial results would share one cell: a partial needs a stride",
                    show(i.extent));
    if (i.stride.factor() > 0) continue;
    auto last = Dim::sum(i.extent * i.stride, -i.stride);
    if (!last)
      return reason("the negative stride of {} cannot be turned round: extent unknown", show(i));
    HEDDLE_TRY_VOID(add_offset(offset, i.axis, *last));
    i.stride = -i.stride;
  }
  auto order = [](const Iter& a, const Iter& b) {
    return std::tie(a.axis, a.stride, a.extent) < std::tie(b.axis, b.stride, b.extent);
  };
  std::sort(iters.begin(), iters.end(), order);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < iters.size() && !changed; ++i) {
      for (std::size_t j = 0; j < iters.size() && !changed; ++j) {
        if (i == j || !absorb(iters[i], iters[j], overlap_is_one)) continue;
        iters.erase(iters.begin() + static_cast<std::ptrdiff_t>(j));
        changed = true;
      }
    }
  }
  std::sort(iters.begin(), iters.end(), order);
  // The form is unique only where each digit steps past all smaller ones.
  for (std::size_t i = 1; i < iters.size(); ++i) {
    const Iter& a = iters[i - 1];
    const Iter& b = iters[i];
    if (a.axis != b.axis || !a.stride.is_const() || !b.stride.is_const() || !a.extent.is_const())
      continue;
    Dim reach = a.extent * a.stride;
    if (reach.valid() && b.stride.factor() < reach.factor())
      return reason("{} {}:{} and {}:{} on one axis {}: make the larger stride at least {}",
                    overlap_is_one ? "the replicas" : "the partials", show(a.extent),
                    show(a.stride), show(b.extent), show(b.stride),
                    overlap_is_one ? "interleave" : "overlap or interleave", show(reach));
  }
  return yes();
}

Dim product(std::span<const Dim> sizes) {
  Dim p = 1;
  for (const Dim& s : sizes) p = p * s;
  return p;
}

Dim extent_of(const Digits& digits) {
  Dim p = 1;
  for (const Iter& d : digits) p = p * d.extent;
  return p;
}

Expected<std::vector<Digits>> group_digits(const Digits& digits, std::span<const Dim> shape) {
  std::vector<Digits> groups(shape.size());
  std::size_t next = 0;
  Iter left;  // what remains of the digit being cut; extent 1 when none
  for (std::size_t d = 0; d < shape.size(); ++d) {
    Dim need = shape[d];
    if (need.factor() < 1) return reason("dimension {} would have {} elements", d, show(need));
    while (!need.is(1)) {
      if (left.extent.is(1)) {
        if (next == digits.size())
          return reason("shape and digits differ in total size: {} is left over in dimension {}",
                        show(need), d);
        left = digits[next++];
      }
      if (Dim::divides(left.extent, need)) {
        groups[d].push_back(left);
        need = Dim::quotient(need, left.extent);
        left = Iter{};
      } else if (Dim::divides(need, left.extent)) {
        Dim inner = Dim::quotient(left.extent, need);
        groups[d].push_back({need, left.stride * inner, left.axis});
        left.extent = inner;
        need = 1;
      } else {
        return reason(
            "the boundary of dimension {} cuts a digit of extent {} where {} is wanted: "
            "neither divides the other",
            d, show(left.extent), show(need));
      }
    }
  }
  if (next != digits.size() || !left.extent.is(1))
    return reason("shape and digits differ in total size: the digits have {}, the shape {}",
                  show(extent_of(digits)), show(product(shape)));
  return groups;
}

Expected<Digits> set_quotient(const Digits& whole, const Digits& part) {
  Digits rest = whole;
  for (const Iter& p : part) {
    bool found = false;
    for (std::size_t i = 0; i < rest.size() && !found; ++i) {
      const Iter w = rest[i];
      if (w.axis != p.axis || !Dim::divides(w.stride, p.stride)) continue;
      Dim below = Dim::quotient(p.stride, w.stride);
      if (!Dim::divides(below * p.extent, w.extent)) continue;
      Dim above = Dim::quotient(w.extent, below * p.extent);
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (!below.is(1)) rest.push_back({below, w.stride, w.axis});
      if (!above.is(1)) rest.push_back({above, p.stride * p.extent, w.axis});
      found = true;
    }
    if (!found) return reason("the replicas or partials {} are not part of the whole's", show(p));
  }
  return rest;
}

Range range_on(const LayoutParts& parts, AxisId axis) {
  Range r;
  auto widen = [&](const Digits& iters) {
    for (const Iter& i : iters) {
      if (i.axis != axis) continue;
      std::int64_t reach = i.stride.factor() * (i.extent.factor() - 1);
      (reach < 0 ? r.lo : r.hi) += reach;
    }
  };
  widen(parts.digits);
  widen(parts.replicas);
  widen(parts.partials);
  for (const AxisOffset& o : parts.offset) {
    if (o.axis != axis) continue;
    r.lo += o.value.factor();
    r.hi += o.value.factor();
  }
  return r;
}

std::vector<AxisId> axes_of(const Layout& layout) {
  std::vector<AxisId> axes;
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      if (i.axis != kNoAxis) axes.push_back(i.axis);
  for (const AxisOffset& o : layout.offset()) axes.push_back(o.axis);
  if (layout.swizzle()) axes.push_back(layout.swizzle()->axis);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

}  // namespace heddle::detail
