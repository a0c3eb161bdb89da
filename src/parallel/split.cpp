#include "heddle/split.h"

#include <algorithm>

#include "heddle/hash.h"

namespace heddle {

std::int64_t total(const SplitAxes& axes) {
  std::int64_t n = 1;
  for (const SplitDigit& d : axes) n *= d.local() ? 1 : d.extent;
  return n;
}

bool overlap(const SplitDigit& a, const SplitDigit& b) {
  if (a.axis != b.axis || a.axis < 0) return false;
  // Apart are digits of which one begins at a multiple of where the other ends.
  const std::int64_t a_end = a.stride * a.extent, b_end = b.stride * b.extent;
  return b.stride % a_end != 0 && a.stride % b_end != 0;
}

bool overlap(const SplitAxes& a, const SplitDigit& b) {
  return std::ranges::any_of(a, [&](const SplitDigit& d) { return overlap(d, b); });
}

// ---- dimensions

std::int64_t DimSplit::padded() const {
  if (digits.empty()) return size;
  std::int64_t n = 1;
  for (const SplitDigit& d : digits) n *= d.extent;
  return n;
}

std::int64_t DimSplit::local() const {
  if (digits.empty()) return size;
  std::int64_t n = 1;
  for (const SplitDigit& d : digits) n *= d.local() ? d.extent : 1;
  return n;
}

bool DimSplit::whole() const {
  return std::ranges::all_of(digits, [](const SplitDigit& d) { return d.local(); });
}

DimSplit DimSplit::blocks(std::int64_t size, const SplitAxes& axes) {
  DimSplit dim{size, axes};
  const std::int64_t n = total(axes);
  if (n == 1 || size == 0) return {size, {}};
  dim.digits.push_back({(size + n - 1) / n});
  return dim;
}

bool DimSplit::is_block() const {
  for (std::size_t i = 1; i < digits.size(); ++i)
    if (digits[i - 1].local() && !digits[i].local()) return false;
  return true;
}

SplitAxes DimSplit::axes() const {
  SplitAxes list;
  for (const SplitDigit& d : digits)
    if (!d.local()) list.push_back(d);
  return list;
}

namespace {

void settle_digits(std::vector<SplitDigit>& digits) {
  std::vector<SplitDigit> kept;
  for (const SplitDigit& d : digits) {
    if (d.extent == 1) continue;
    SplitDigit* last = kept.empty() ? nullptr : &kept.back();
    if (last != nullptr && last->local() && d.local()) {
      last->extent *= d.extent;
    } else if (last != nullptr && last->axis == d.axis && !d.local() &&
               last->stride == d.stride * d.extent) {
      last->extent *= d.extent;
      last->stride = d.stride;
    } else {
      kept.push_back(d);
      if (d.local()) kept.back().stride = 1;
    }
  }
  digits = std::move(kept);
}

}  // namespace

// ---- values

Split Split::whole(const Type& type) {
  Split split;
  if (type.is_tensor())
    for (std::int64_t size : type.shape) split.dims.push_back({size, {}});
  return split;
}

bool Split::is_whole() const {
  return pending.empty() && std::ranges::all_of(dims, [](const DimSplit& d) { return d.whole(); });
}

bool Split::uses(const SplitDigit& digit) const {
  if (overlap(pending, digit)) return true;
  return std::ranges::any_of(dims, [&](const DimSplit& d) { return overlap(d.digits, digit); });
}

void Split::settle() {
  // What has no elements is whole everywhere.
  if (std::ranges::any_of(dims, [](const DimSplit& d) { return d.size == 0; })) {
    for (DimSplit& dim : dims) dim.digits.clear();
    pending.clear();
  }
  for (DimSplit& dim : dims) {
    settle_digits(dim.digits);
    if (dim.whole() && (dim.digits.empty() || dim.padded() == dim.size || dim.size == 0))
      dim.digits.clear();
  }
  std::ranges::sort(pending, [](const SplitDigit& a, const SplitDigit& b) {
    return std::pair(a.axis, -a.stride) < std::pair(b.axis, -b.stride);
  });
  settle_digits(pending);
  if (pending.empty()) reduce = ReduceOp::sum;
}

std::uint64_t Split::hash() const {
  std::uint64_t h = dims.size();
  auto mix = [&](std::int64_t v) {
    h = (h ^ static_cast<std::uint64_t>(v)) * 0x9E3779B97F4A7C15U;
    h ^= h >> 29;
  };
  auto digits = [&](const std::vector<SplitDigit>& list) {
    mix(static_cast<std::int64_t>(list.size()));
    for (const SplitDigit& d : list) {
      mix(d.extent);
      mix(d.axis * 4096 + d.stride);
    }
  };
  for (const DimSplit& d : dims) {
    mix(d.size);
    digits(d.digits);
  }
  digits(pending);
  mix(static_cast<std::int64_t>(reduce));
  return h;
}

Type local_type(const Type& type, const Split& split) {
  Type local = type;
  for (std::size_t d = 0; d < split.dims.size(); ++d) local.shape[d] = split.dims[d].local();
  return local;
}

// ---- layouts

namespace {

// Along every axis, what neither a dimension nor a pending sum uses holds copies.
std::vector<Iter> copies(const Split& split, const Mesh& mesh) {
  std::vector<Iter> result;
  SplitAxes used = split.pending;
  for (const DimSplit& dim : split.dims)
    for (const SplitDigit& d : dim.digits)
      if (!d.local()) used.push_back(d);
  std::ranges::sort(used, [](const SplitDigit& a, const SplitDigit& b) {
    return std::pair(a.axis, a.stride) < std::pair(b.axis, b.stride);
  });
  for (std::size_t a = 0; a < mesh.axes().size(); ++a) {
    std::int64_t settled = 1;  // positions from the fastest on that are dealt with
    auto copy_until = [&](std::int64_t stride) {
      if (stride > settled) result.push_back({stride / settled, settled, mesh.axes()[a].axis});
    };
    for (const SplitDigit& d : used)
      if (d.axis == static_cast<int>(a)) {
        copy_until(d.stride);
        settled = d.stride * d.extent;
      }
    copy_until(mesh.axes()[a].size);
  }
  return result;
}

}  // namespace

Expected<Layout> layout_of(const Split& split, const Mesh& mesh, AxisId mem) {
  LayoutParts parts;
  auto iter = [&](const SplitDigit& d) {
    return Iter{d.extent, d.stride, mesh.axes()[static_cast<std::size_t>(d.axis)].axis};
  };
  for (const DimSplit& dim : split.dims) {
    if (dim.size == 0) return reason("a tensor without elements has no layout");
    parts.dims.push_back({dim.size, dim.padded(), 0, 0, 0});
    if (dim.digits.empty()) parts.digits.push_back({dim.size, 0, mem});
    for (const SplitDigit& d : dim.digits)
      parts.digits.push_back(d.local() ? Iter{d.extent, 0, mem} : iter(d));
    if (!dim.digits.empty() && !dim.digits.back().local()) parts.digits.push_back({1, 0, mem});
  }
  Dim stride = 1;
  for (std::size_t i = parts.digits.size(); i-- > 0;)
    if (parts.digits[i].axis == mem) {
      parts.digits[i].stride = stride;
      stride = stride * parts.digits[i].extent;
    }
  for (const SplitDigit& d : split.pending) parts.partials.push_back(iter(d));
  parts.reduce = split.reduce;
  parts.replicas = copies(split, mesh);
  return Layout::make(std::move(parts));
}

Expected<Split> split_of(const Layout& layout, const Mesh& mesh) {
  Split split;
  split.reduce = layout.reduce();
  auto digit = [&](const Iter& iter) -> Expected<SplitDigit> {
    if (!iter.extent.is_const() || !iter.stride.is_const())
      return reason("the layout has symbolic sizes");
    for (std::size_t a = 0; a < mesh.axes().size(); ++a)
      if (mesh.axes()[a].axis == iter.axis)
        return SplitDigit{iter.extent.factor(), static_cast<int>(a), iter.stride.factor()};
    return SplitDigit{iter.extent.factor()};
  };
  if (!layout.concrete() || !layout.offset().empty() || layout.swizzle())
    return reason("the layout has an offset, a swizzle or symbolic sizes");
  HEDDLE_TRY(auto groups, group(layout, layout.padded_shape()));
  for (std::size_t d = 0; d < groups.size(); ++d) {
    const DimInfo& info = layout.dims()[d];
    if (info.origin != 0 || info.has_halo()) return reason("the layout has an origin or a halo");
    DimSplit dim{info.size.factor(), {}};
    for (const Iter& iter : groups[d]) {
      HEDDLE_TRY(SplitDigit one, digit(iter));
      dim.digits.push_back(one);
    }
    split.dims.push_back(std::move(dim));
  }
  for (const Iter& iter : layout.partials()) {
    HEDDLE_TRY(SplitDigit one, digit(iter));
    split.pending.push_back(one);
  }
  split.settle();
  return split;
}

// ---- text

namespace {

std::string axis_text(const SplitDigit& d, const Mesh& mesh) {
  const MeshAxis& axis = mesh.axes()[static_cast<std::size_t>(d.axis)];
  if (d.extent == axis.size) return fmt::format("\"{}\"", axis.name);
  return fmt::format("\"{}\":({}){}", axis.name, axis.size / d.extent / d.stride, d.extent);
}

std::string list_of(const std::vector<SplitDigit>& digits, const Mesh& mesh, bool all) {
  std::string text;
  for (const SplitDigit& d : digits) {
    if (d.local() && !all) continue;
    text +=
        (text.empty() ? "" : ", ") + (d.local() ? std::to_string(d.extent) : axis_text(d, mesh));
  }
  return "{" + text + "}";
}

}  // namespace

std::string axes_text(const SplitAxes& axes, const Mesh& mesh) {
  std::string text;
  for (const SplitDigit& d : axes) {
    text += text.empty() ? "" : ", ";
    if (d.local()) {
      text += std::to_string(d.extent);
      continue;
    }
    const MeshAxis& axis = mesh.axes()[static_cast<std::size_t>(d.axis)];
    text += axis.name;
    if (d.extent != axis.size)
      text += fmt::format(":({}){}", axis.size / d.extent / d.stride, d.extent);
  }
  return text;
}

std::string text_of(const Split& split, const Mesh& mesh) {
  std::string text;
  for (const DimSplit& dim : split.dims)
    text += (text.empty() ? "" : ", ") + list_of(dim.digits, mesh, !dim.is_block());
  text = "[" + text + "]";
  if (!split.pending.empty())
    text += fmt::format(", pending {} {}", name(split.reduce), list_of(split.pending, mesh, false));
  return text;
}

// ---- places

std::int64_t coordinate(const SplitDigit& digit, const Mesh& mesh, std::int64_t device) {
  std::int64_t inner = 1;
  for (std::size_t a = static_cast<std::size_t>(digit.axis) + 1; a < mesh.axes().size(); ++a)
    inner *= mesh.axes()[a].size;
  const std::int64_t c = device / inner % mesh.axes()[static_cast<std::size_t>(digit.axis)].size;
  return c / digit.stride % digit.extent;
}

std::vector<std::int64_t> elements_of(const DimSplit& dim, const Mesh& mesh, std::int64_t device) {
  const std::int64_t n = dim.local();
  std::vector<std::int64_t> places(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t place = 0, step = 1, rest = i;
    if (dim.digits.empty()) place = i;
    for (std::size_t d = dim.digits.size(); d-- > 0;) {
      const SplitDigit& digit = dim.digits[d];
      place += step * (digit.local() ? rest % digit.extent : coordinate(digit, mesh, device));
      if (digit.local()) rest /= digit.extent;
      step *= digit.extent;
    }
    places[static_cast<std::size_t>(i)] = place < dim.size ? place : -1;
  }
  return places;
}

}  // namespace heddle
