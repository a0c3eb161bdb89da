// fuse: what is computed between a reduce_scatter and an all_gather goes into the collective.
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

struct FuseHow {
  int chunks = 0;       // of a slice; 0: the runtime decides
  std::string by = {};  // direct, ring or tree; empty: direct
};

// Marks both, for the runtime; makes the results of both. `gather` kNone: results stay in slices. A
// reason where something else than pointwise work is between them, or they do not fit together.
Expected<Rewritten> fuse_inside(const Program& program, std::uint32_t mesh, OpId scatter,
                                OpId gather, const FuseHow& how);

// With the first all_gather that fits, or without one.
Expected<Rewritten> fuse_inside_any(const Program& program, std::uint32_t mesh, OpId scatter,
                                    const FuseHow& how);

}  // namespace heddle
