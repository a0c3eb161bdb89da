// Halo exchange: copies of the neighbours' edges, dimension after dimension, so that an edge
// carries the corners of those before it along.
#include <algorithm>
#include <cmath>

#include "layout/plan_moves.h"

namespace heddle {

namespace {

// What one dimension's halo needs to know.
struct Edge {
  double run = 1;                  // elements side by side in one block
  double extent = 1;               // elements on one holder
  const MeshAxis* axis = nullptr;  // the slowest that splits the dimension; none: no neighbours
  std::vector<SubAxis> over;
};

std::vector<Edge> edges_of(const PlanContext& in) {
  auto groups = group(in.target, in.target.padded_shape());
  HEDDLE_CHECK(groups.ok(), "a halo was validated on digits that do not group");
  std::vector<Edge> edges;
  for (const Digits& digits : *groups) {
    Edge e;
    for (const Iter& i : digits) {
      if (const MeshAxis* a = in.mesh.find(i.axis)) {
        if (e.axis == nullptr || a->link.bandwidth < e.axis->link.bandwidth) e.axis = a;
        e.over.push_back({i.axis, i.extent.factor(), i.stride.factor()});
      } else {
        e.extent *= static_cast<double>(i.extent.factor());
      }
    }
    if (!digits.empty() && in.mesh.find(digits.back().axis) == nullptr)
      e.run = static_cast<double>(digits.back().extent.factor());
    edges.push_back(std::move(e));
  }
  return edges;
}

// What the run receives that lacks most: cells outside the tensor hold nothing.
struct Wanted {
  double elements = 0, messages = 0;
};

Wanted most_wanted(const DimInfo& dim, double run) {
  const auto size = static_cast<double>(dim.size.factor());
  const auto lo = static_cast<double>(dim.halo_lo);
  const auto hi = static_cast<double>(dim.halo_hi);
  const auto origin = static_cast<double>(dim.origin);
  const double last = static_cast<double>(dim.padded.factor()) / run - 1;
  Wanted most;
  // It grows up to the first run with a full halo before it, and shrinks after the last with a full
  // one after it.
  for (const double edge : {(lo - origin) / run, (size - hi - origin) / run - 1})
    for (const double at : {std::floor(edge), std::ceil(edge)}) {
      const double start = origin + std::clamp(at, 0.0, last) * run;
      const double before = std::clamp(start, 0.0, lo);
      const double after = std::clamp(size - start - run, 0.0, hi);
      most.elements = std::max(most.elements, before + after);
      // A halo wider than a block reaches further neighbours.
      most.messages = std::max(most.messages, std::ceil(before / run) + std::ceil(after / run));
    }
  return most;
}

// Bytes of one slice across dimension d on one holder.
double slice_bytes(const PlanContext& in, const std::vector<Edge>& edges, std::size_t d) {
  double bytes = static_cast<double>(in.options.element_bits) / 8;
  for (std::size_t o = 0; o < edges.size(); ++o)
    if (o != d) bytes *= edges[o].extent;
  return bytes;
}

}  // namespace

Move halo_move(const PlanContext& in) {
  Move m;
  m.kind = MoveKind::halo_exchange;
  m.from = in.core_target;
  m.to = in.target;
  m.why = "the target keeps copies of its neighbours' edges";
  std::vector<Edge> edges = edges_of(in);
  for (std::size_t d = 0; d < edges.size(); ++d) {
    const DimInfo& dim = in.target.dims()[d];
    Edge& e = edges[d];
    const auto lo = static_cast<double>(dim.halo_lo);
    const auto hi = static_cast<double>(dim.halo_hi);
    if (e.axis != nullptr && dim.has_halo()) {
      const Wanted wanted = most_wanted(dim, e.run);
      const double bytes = wanted.elements * (e.extent / e.run) * slice_bytes(in, edges, d);
      m.bytes += static_cast<std::int64_t>(bytes);
      m.seconds += wanted.messages * e.axis->link.latency + bytes / e.axis->link.bandwidth;
      m.medium = e.axis->medium;
      m.over.insert(m.over.end(), e.over.begin(), e.over.end());
    }
    // Later dimensions send their edges with what this one has added.
    e.extent = e.extent / e.run *
               std::min(e.run + lo + hi, std::max(e.run, static_cast<double>(dim.size.factor())));
  }
  m.live = in.bytes_of(in.target);
  return m;
}

}  // namespace heddle
