// The general exchange.
#include <algorithm>

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
    if (have >= in.source.dims()[d].padded.factor()) continue;
    const std::int64_t touched = (want + have - 1) / have + 1;
    sources *= static_cast<double>(touched);
  }
  return sources;
}

// How many holders have data.
double holders(const PlanContext& in, const Layout& layout) {
  double n = 1;
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      if (in.mesh.find(i.axis) != nullptr) n *= static_cast<double>(i.extent.factor());
  return n;
}

// Whole bytes of so many elements.
std::int64_t bytes_held(std::int64_t elements, const PlanContext& in) {
  return static_cast<std::int64_t>(static_cast<__int128>(elements) * in.options.element_bits / 8);
}

}  // namespace

bool PlanContext::uneven() const {
  for (const Layout* l : {&source, &core_target})
    for (const DimInfo& d : l->dims())
      if (!(d.size == d.padded) || d.origin != 0) return true;
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
  // A message may cross any of these links: it waits for the longest and is as fast as the slowest.
  Link slowest{0, 1e300};
  auto cross = [&](const Hop& hop) {
    if (hop.extent < 2) return;
    slowest.latency = std::max(slowest.latency, hop.link.latency);
    if (hop.link.bandwidth >= slowest.bandwidth) return;
    slowest.bandwidth = hop.link.bandwidth;
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
    const std::int64_t stays = in.uneven() ? 0 : bytes_held(least_overlap(*space, false), in);
    m.bytes = static_cast<std::int64_t>(
        std::min(9e18, static_cast<double>(need) * contributions - static_cast<double>(stays)));
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

}  // namespace heddle
