// Laws of validate: yes exactly where all positions are inside and no two choices share a cell.
#include <gtest/gtest.h>

#include "generate.h"

namespace heddle::property {
namespace {

// All cells of the padded box in bounds and different. A halo counts as more values of the last
// digit of its dimension.
bool is_valid(LayoutParts parts) {
  Index padded;
  for (const DimInfo& dim : parts.dims) padded.push_back(number(dim.padded));
  auto pieces = cut_digits(parts.digits, padded);
  for (std::size_t d = 0; d < parts.dims.size(); ++d) {
    DimInfo& dim = parts.dims[d];
    if (!dim.has_halo()) continue;
    if (!pieces || (*pieces)[d].empty()) return false;
    Iter& last = (*pieces)[d].back();
    if (last.axis == kNoAxis || world().axes[last.axis].kind != AxisKind::memory) return false;
    const std::int64_t wider = number(last.extent) + dim.halo_lo + dim.halo_hi;
    parts.offset.push_back({last.axis, -dim.halo_lo * number(last.stride)});
    dim.padded = number(dim.padded) / number(last.extent) * wider;
    last.extent = wider;
  }
  if (pieces) {
    parts.digits.clear();
    for (const Digits& piece : *pieces)
      parts.digits.insert(parts.digits.end(), piece.begin(), piece.end());
  }
  const Oracle oracle(parts);
  std::vector<Place> all;
  for (std::int64_t u = 0; u < oracle.elements; ++u) {
    const auto cells = oracle.all_cells(u);
    all.insert(all.end(), cells.begin(), cells.end());
  }
  for (const Place& cell : all)
    for (std::size_t a = 0; a < kAxes; ++a) {
      if (cell[a] < 0) return false;
      if (!world().axes.knows(static_cast<AxisId>(a))) continue;
      const std::int64_t size = world().axes[static_cast<AxisId>(a)].size;
      if (size > 0 && cell[a] >= size) return false;
    }
  return distinct(all).size() == all.size();
}

// Few small digits on axes with narrow bounds, so that about half of them fit.
LayoutParts tight_parts(Choices& choices) {
  const World& w = world();
  LayoutParts parts;
  const std::vector<AxisId> axes = {w.mem, w.tray, w.lane, w.gpu, w.tp};
  std::map<AxisId, std::int64_t> room;
  auto iter = [&] {
    Iter i{choices.between(1, 3), 1, choices.pick(axes)};
    std::int64_t& next = room.emplace(i.axis, 1).first->second;
    i.stride = choices.one_in(3) ? choices.between(-1, 6) : next;
    next *= number(i.extent);
    return i;
  };
  for (std::int64_t rank = choices.between(1, 2); rank > 0; --rank) {
    std::int64_t extent = 1;
    for (std::int64_t n = choices.between(1, 3); n > 0; --n) {
      parts.digits.push_back(iter());
      extent *= number(parts.digits.back().extent);
    }
    parts.dims.push_back({extent, extent, 0, 0, 0});
  }
  if (choices.one_in(3)) parts.replicas.push_back(iter());
  if (choices.one_in(4)) parts.partials.push_back(iter());
  for (Iter& i : parts.partials)
    if (number(i.stride) == 0) i.stride = 1;
  if (choices.one_in(4)) parts.offset.push_back({choices.pick(axes), choices.between(-1, 20)});
  return parts;
}

void require_verdict(const Layout& layout) {
  const auto verdict = validate(layout, world().axes);
  require(verdict.ok() == is_valid(layout.parts()),
          [&] { return (verdict ? "valid" : verdict.reason()) + show(layout); });
}

HEDDLE_LAW_REFUSING(Validate, SaysYesExactlyWhereCellsAreInsideAndApart, 0.1) {
  const auto layout = Layout::make(tight_parts(choices));
  if (!layout) leave_out();
  require_verdict(*layout);
}

// Addresses up to the end of an axis of 25, where a swizzle may carry them over it or back.
HEDDLE_LAW_REFUSING(Validate, LooksAtSwizzledAddresses, 0.1) {
  LayoutParts parts;
  const std::int64_t extent = choices.between(2, 25);
  parts.dims = {{extent, extent, 0, 0, 0}};
  parts.digits = {{extent, choices.pick({1, 1, 2, 3, 5}), world().tray}};
  if (choices.one_in(3)) parts.replicas.push_back({2, choices.between(1, 12), world().tray});
  parts.offset.push_back({world().tray, choices.between(0, 8)});
  const auto bits = static_cast<std::uint8_t>(choices.between(1, 2));
  parts.swizzle = Swizzle{world().tray, bits, static_cast<std::uint8_t>(choices.below(3)),
                          static_cast<std::uint8_t>(bits + choices.below(3))};
  const auto layout = Layout::make(parts);
  if (!layout) leave_out();
  require_verdict(*layout);
}

HEDDLE_LAW_REFUSING(Validate, GivesAHaloItsRoom, 0.1) {
  LayoutParts parts = tight_parts(choices);
  for (DimInfo& dim : parts.dims) {
    dim.halo_lo = choices.below(2);
    dim.halo_hi = choices.below(3);
  }
  for (Iter& i : parts.digits)
    if (choices.one_in(2)) i.stride = number(i.stride) * choices.between(1, 4);
  if (choices.one_in(2))
    parts.offset.push_back({choices.pick({world().mem, world().tray}), choices.between(0, 4)});
  const auto layout = Layout::make(parts);
  if (!layout) leave_out();
  require_verdict(*layout);
}

HEDDLE_LAW_REFUSING(Validate, OfAnyLayout, 0.1) {
  Recipe recipe;
  recipe.large = false;
  require_verdict(random_layout(choices, recipe));
}

}  // namespace
}  // namespace heddle::property
