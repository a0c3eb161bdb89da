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
  // Whether any block has padding.
  bool uneven() const;
};

Layout without_halo(const Layout& layout);

// The moves along a path of the search, with the local copies before and after it.
std::vector<Move> moves_along(const PlanContext& in, const PlanSpace& space,
                              const SearchResult& found);

// One exchange of whatever the footprints share; `space` sharpens its cost where there is one.
Move exchange_move(const PlanContext& in, const PlanSpace* space);

// Bytes that the worst holder must receive under any plan.
std::int64_t least_bytes(const PlanContext& in, const PlanSpace& space);

// Fills the target's halo once everything else is in place.
Move halo_move(const PlanContext& in);
// Bytes that it must bring to the worst holder where nothing was sent before.
std::int64_t least_halo_bytes(const PlanContext& in);

}  // namespace heddle
