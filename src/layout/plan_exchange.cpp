// The general exchange, and how little any plan can get by with.
#include <algorithm>
#include <array>

#include "layout/plan_moves.h"

namespace heddle {

namespace {

// Source blocks that one target block touches, at most, from the contiguous runs of each side.
double sources_of_a_block(const PlanContext& in) {
  auto run_of = [&](const Layout& layout, std::size_t d) {
    auto groups = group(layout, layout.padded_shape());
    if (!groups) return std::int64_t{1};
    std::int64_t run = 1;
    for (std::size_t i = (*groups)[d].size(); i-- > 0;) {
      if (in.mesh.find((*groups)[d][i].axis) != nullptr) break;
      run *= (*groups)[d][i].extent.factor();
    }
    return run;
  };
  double sources = 1;
  for (std::size_t d = 0; d < in.source.rank(); ++d) {
    const std::int64_t have = run_of(in.source, d);
    const std::int64_t want = run_of(in.core_target, d);
    if (have < in.source.dims()[d].padded.factor())
      sources *= static_cast<double>((want + have - 1) / have + 1);
  }
  return sources;
}

// Bytes that the worst holder needs and has, by digits.
std::int64_t overlap(const PlanSpace& space) {
  std::array<int, kMaxSlots> from{};
  std::array<int, kMaxSlots> to{};
  for (std::size_t i = 0; i < space.subs.size(); ++i) {
    if (space.in_slot(space.source[i])) from[space.source[i]] = static_cast<int>(i) + 1;
    if (space.in_slot(space.target[i])) to[space.target[i]] = static_cast<int>(i) + 1;
    if (space.source[i] == kPinnedSource && space.target[i] != kPinnedSource) return 0;
  }
  __int128 elements = 1;
  for (std::size_t k = 0; k < space.slots.size(); ++k) {
    if (from[k] != 0 && to[k] != 0 && from[k] != to[k])
      return 0;  // other positions, other elements
    if (from[k] == 0 && to[k] == 0) elements *= space.slots[k].extent;
  }
  return static_cast<std::int64_t>(elements * space.element_bits / 8);
}

State all_local(const PlanSpace& space) {
  State s{};
  for (std::size_t i = 0; i < space.subs.size(); ++i) s[i] = kReplicated;
  return s;
}

// How many holders have data.
double holders(const PlanContext& in, const Layout& layout) {
  double n = 1;
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      if (in.mesh.find(i.axis) != nullptr) n *= static_cast<double>(i.extent.factor());
  return n;
}

}  // namespace

bool PlanContext::uneven() const {
  for (const Layout* l : {&source, &core_target})
    for (const DimInfo& d : l->dims())
      if (!(d.size == d.padded)) return true;
  return false;
}

Move exchange_move(const PlanContext& in, const PlanSpace* space) {
  Move m;
  m.kind = MoveKind::exchange;
  m.from = in.source;
  m.to = in.core_target;
  const std::int64_t need = in.bytes_of(in.core_target);
  m.live = in.bytes_of(in.source) + need;
  // Where both sides have the same pending reduction, each contribution is exchanged for itself.
  const bool keeps = in.source.partials() == in.core_target.partials() &&
                     in.source.reduce() == in.core_target.reduce();
  double contributions = 1;
  for (const Iter& i : keeps ? Digits{} : in.source.partials())
    contributions *= static_cast<double>(i.extent.factor());
  double messages = contributions;
  Link slowest{0, 1e300};
  auto cross = [&](const Hop& hop) {
    if (hop.link.bandwidth >= slowest.bandwidth) return;
    slowest = hop.link;
    m.medium = hop.medium;
  };
  if (space != nullptr) {
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < space->subs.size(); ++i)
      if (space->in_slot(space->target[i])) kept |= std::uint64_t{1} << space->target[i];
    for (std::size_t i = 0; i < space->subs.size(); ++i) {
      if (space->source[i] != space->target[i]) cross(space->hops[i]);
      if (space->in_slot(space->source[i]) && (kept >> space->source[i] & 1) == 0)
        messages *= static_cast<double>(space->hops[i].extent);
    }
    m.bytes = static_cast<std::int64_t>(
        std::min(9e18, static_cast<double>(need) * contributions -
                           (in.uneven() ? 0 : static_cast<double>(overlap(*space)))));
  } else {
    messages *= sources_of_a_block(in);
    for (const MeshAxis& a : in.mesh.axes()) cross({a.size, a.link, a.medium});
    m.bytes = static_cast<std::int64_t>(std::min(9e18, static_cast<double>(need) * contributions));
  }
  if (slowest.bandwidth > 1e299) slowest = {0, in.mesh.local_bandwidth()};
  messages = std::min(messages, static_cast<double>(in.mesh.devices()));
  for (const MeshAxis& a : in.mesh.axes()) m.over.push_back({a.axis, a.size, 1});
  // Few holders that serve many send more than anyone receives. Irregular messages are packed and
  // unpacked; what stays is copied.
  const double served = std::max(1.0, holders(in, in.core_target) / holders(in, in.source));
  const double sent = static_cast<double>(m.bytes) * served;
  m.seconds = messages * served * slowest.latency + sent / slowest.bandwidth +
              (2 * sent + static_cast<double>(need)) / in.mesh.local_bandwidth();
  return m;
}

std::int64_t least_bytes(const PlanContext& in, const PlanSpace& space) {
  const std::int64_t need = space.local_bytes(space.target);
  bool finishes = false;
  for (std::size_t i = 0; i < space.subs.size(); ++i)
    finishes = finishes || (space.source[i] == kPending && space.target[i] != kPending);
  std::int64_t bound = finishes ? need : need - overlap(space);
  // Padding need not move: at most this much of a block is padding.
  if (in.uneven()) {
    const std::int64_t whole = space.local_bytes(all_local(space));
    __int128 valid = space.element_bits;
    for (const DimInfo& d : space.dims) valid *= d.size.factor();
    const std::int64_t padding =
        std::max<std::int64_t>(0, whole - static_cast<std::int64_t>(valid / 8));
    bound = std::max<std::int64_t>(0, bound - padding);
  }
  return bound;
}

}  // namespace heddle
