// How little any plan can get by with: what some holder needs and does not have. Every holder that
// is looked at gives a bound, so looking at a few keeps the time independent of sizes.
#include <algorithm>
#include <array>

#include "heddle/hash.h"
#include "layout/plan_moves.h"

namespace heddle {

namespace {

constexpr std::size_t kMostHolders = 64;

std::int64_t mesh_extent(const PlanContext& in, const Digits& iters) {
  std::int64_t n = 1;
  for (const Iter& i : iters)
    if (in.mesh.find(i.axis) != nullptr) n *= i.extent.factor();
  return n;
}

// ---- by digits, where both layouts are cut into common pieces

// Elements of the common box that are padding.
std::int64_t padding_elements(const PlanSpace& space) {
  __int128 whole = 1;
  __int128 held = 1;
  for (const DimInfo& d : space.dims) {
    whole *= d.padded.factor();
    held *= std::max<std::int64_t>(0, std::min(d.size.factor(), d.origin + d.padded.factor()) -
                                          std::max<std::int64_t>(0, d.origin));
  }
  return static_cast<std::int64_t>(whole - held);
}

// Where the target's reduction is pending, its holders may share out what arrives as they like:
// each element needs one of them to receive it, and the busiest has at least the average.
std::int64_t least_by_digits(const PlanSpace& space) {
  const auto pends = [](Role role) { return role == kPending || role == kPendingTarget; };
  bool finishes = false;
  std::int64_t sharers = 1;
  for (std::size_t i = 0; i < space.subs.size(); ++i) {
    finishes = finishes || (space.source[i] == kPending && space.target[i] != kPending);
    if (pends(space.target[i])) sharers *= space.subs[i].extent;
  }
  __int128 missing = space.local_elements(space.target) - padding_elements(space);
  if (!finishes) missing -= least_overlap(space, true);
  return static_cast<std::int64_t>(std::max<__int128>(0, missing) * space.element_bits / 8 /
                                   sharers);
}

// ---- by footprints of some holders

// At most so many elements are in both runs; exact where one of them has no gaps.
std::int64_t most_shared(const StridedRun& a, const StridedRun& b) {
  const auto inside = [](StridedRun run, const StridedRun& other) {
    std::int64_t last = other.start;
    for (const StridedRun::Level& l : other.levels) last += (l.count - 1) * l.step;
    run.lo = std::max({run.lo, other.lo, other.start});
    run.hi = std::min({run.hi, other.hi, last + 1});
    return run.lo < run.hi ? run.count() : 0;
  };
  return std::min(inside(a, b), inside(b, a));
}

std::int64_t most_shared(const Box& a, const Box& b) {
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < a.dims.size(); ++d) elements *= most_shared(a.dims[d], b.dims[d]);
  return elements;
}

// Positions on an axis where holders differ most: the ends, one step of every digit, and some
// between, where blocks of different lengths have drifted apart.
std::vector<std::int64_t> telling_positions(const PlanContext& in, const MeshAxis& axis) {
  std::vector<std::int64_t> positions = {0, axis.size - 1, axis.size / 2, axis.size / 8};
  for (const Layout* l : {&in.target, &in.source}) {
    const std::int64_t offset = l->offset_on(axis.axis).factor();
    positions.push_back(offset);
    for (const auto* list : {&l->digits(), &l->replicas()})
      for (const Iter& i : *list)
        if (i.axis == axis.axis) positions.push_back(offset + i.stride.factor());
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  std::erase_if(positions, [&](std::int64_t p) { return p < 0 || p >= axis.size; });
  return positions;
}

// Holders to look at: all of a small mesh, telling ones of a large one.
std::vector<Coord> some_holders(const PlanContext& in) {
  const bool all = in.mesh.devices() <= static_cast<std::int64_t>(kMostHolders);
  std::vector<std::vector<std::int64_t>> positions;
  std::size_t ways = 1;
  for (const MeshAxis& axis : in.mesh.axes()) {
    positions.push_back(all ? std::vector<std::int64_t>(static_cast<std::size_t>(axis.size))
                            : telling_positions(in, axis));
    if (all)
      for (std::int64_t p = 0; p < axis.size; ++p)
        positions.back()[static_cast<std::size_t>(p)] = p;
    ways = std::min(ways * positions.back().size(), std::size_t{1} << 32);
  }
  std::vector<Coord> holders(std::min(ways, kMostHolders));
  for (std::size_t h = 0; h < holders.size(); ++h) {
    std::uint64_t pick = ways > kMostHolders ? hash_mix(h) : h;
    for (std::size_t a = 0; a < positions.size(); ++a) {
      holders[h].push_back({in.mesh.axes()[a].axis, positions[a][pick % positions[a].size()]});
      pick /= positions[a].size();
    }
    std::sort(holders[h].begin(), holders[h].end());
  }
  return holders;
}

// Elements that one holder must receive.
std::int64_t missing_on(const PlanContext& in, const Coord& holder, bool source_counts) {
  const auto wanted = footprint(in.target, holder, in.axes, true);
  if (!wanted || wanted->empty()) return 0;
  std::int64_t missing = wanted->front().count();
  if (!source_counts || missing == 0) return missing;
  const auto there = footprint(in.source, holder, in.axes, true);
  if (!there) return 0;
  for (const Box& box : *there) missing -= most_shared(wanted->front(), box);
  return std::max<std::int64_t>(0, missing);
}

std::int64_t least_by_footprints(const PlanContext& in) {
  // No holder has all contributions of a pending element, so each finished one must come in.
  const bool source_counts = mesh_extent(in, in.source.partials()) == 1;
  std::int64_t most = 0;
  for (const Coord& holder : some_holders(in))
    most = std::max(most, missing_on(in, holder, source_counts));
  return static_cast<std::int64_t>(static_cast<__int128>(most) * in.options.element_bits / 8);
}

bool separates(const Layout& layout) { return group(layout, layout.padded_shape()).ok(); }

}  // namespace

std::int64_t least_overlap(const PlanSpace& space, bool jointly) {
  std::array<std::size_t, kMaxSlots> from{};
  std::array<std::size_t, kMaxSlots> to{};
  for (std::size_t i = 0; i < space.subs.size(); ++i) {
    if (space.in_slot(space.target[i])) to[space.target[i]] = i + 1;
    if (jointly && (space.target[i] == kPending || space.target[i] == kPendingTarget)) continue;
    if (space.in_slot(space.source[i])) from[space.source[i]] = i + 1;
    if (space.source[i] == kPinnedSource && space.target[i] != kPinnedSource) return 0;
  }
  std::int64_t elements = 1;
  for (std::size_t k = 0; k < space.slots.size(); ++k) {
    if (from[k] != 0 && to[k] != 0 && from[k] != to[k])
      return 0;  // other positions, other elements
    if (from[k] == 0 && to[k] == 0) elements *= space.slots[k].extent;
  }
  return elements;
}

std::int64_t least_bytes(const PlanContext& in, const PlanSpace* space) {
  // Digits know nothing of a halo that the source has.
  if (has_halo(in.source)) space = nullptr;
  const std::int64_t by_digits = space != nullptr ? least_by_digits(*space) : 0;
  if (mesh_extent(in, in.target.partials()) > 1) return by_digits;
  if (space != nullptr && !in.uneven() && in.core_target == in.target) return by_digits;
  if (separates(in.source) && separates(in.target))
    return std::max(by_digits, least_by_footprints(in));
  // Dimensions that do not separate: at best everything that fits was already there.
  if (in.uneven()) return by_digits;
  return std::max(by_digits, in.bytes_of(in.core_target) - in.bytes_of(in.source));
}

}  // namespace heddle
