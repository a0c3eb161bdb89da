// The pieces that a plan is made of.
#pragma once

#include "layout/plan_search.h"

namespace heddle {

// What is to be planned.
struct PlanContext {
  const Layout& source;
  const Layout& target;
  Layout core_target;  // without its halo
  const Mesh& mesh;
  const AxisRegistry& axes;
  const PlanOptions& options;

  std::int64_t bytes_of(const Layout& layout) const {
    return holder_bytes(layout, axes, options.element_bits);
  }
  // Whether any block has padding, or the blocks begin elsewhere than the tensor.
  bool uneven() const;
};

// The moves along a path of the search, with the local copies before and after it.
std::vector<Move> moves_along(const PlanContext& in, const PlanSpace& space,
                              const SearchResult& found);

// One exchange of whatever the footprints share; `space` sharpens its cost where there is one.
Move exchange_move(const PlanContext& in, const PlanSpace* space);

// Bytes that some holder must receive under any plan; 0 where nothing is proved.
std::int64_t least_bytes(const PlanContext& in, const PlanSpace* space);
// Elements of the target that every holder has, and the holder with the fewest no more. `jointly`:
// holders that differ only in what the target has pending count as one.
std::int64_t least_overlap(const PlanSpace& space, bool jointly);

// Layouts that a plan with an exchange may pass through, near the source and near the target.
struct PlanStops {
  std::vector<Layout> first, last;
};
PlanStops plan_stops(const PlanContext& in);

// Fills the target's halo once everything else is in place.
Move halo_move(const PlanContext& in);

}  // namespace heddle
