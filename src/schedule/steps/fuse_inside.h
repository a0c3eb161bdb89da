// fuse: what is computed before, between and behind a reduce_scatter and an all_gather goes into
// the collective.
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

struct FuseHow {
  int chunks = 0;           // of a slice; 0: the runtime decides
  std::string by = {};      // direct, ring or tree; empty: direct
  std::string through = {};  // direct, bandwidth or latency; empty: direct
  int lanes = 0;            // of a rank; 0: one
};

// Ops that become one, in this order; kNone: it has none of these. One of scatter and gather is
// there, and behind an all_gather alone a product.
struct FusedOps {
  OpId product = kNone;  // whose rows are summed chunk by chunk
  OpId scatter = kNone, gather = kNone;
  OpId user = kNone;  // a product that takes the rows which come

  // In the order of a step's words; a reason where they are no such line.
  static Expected<FusedOps> of(const Program& program, const std::vector<OpId>& ops);
};

// Marks them, for the runtime; makes the results of scatter, gather and user. Without a gather
// results stay in slices. A reason where something else than pointwise work is between them, or
// they do not fit together.
Expected<Rewritten> fuse_inside(const Program& program, std::uint32_t mesh, const FusedOps& ops,
                                const FuseHow& how);

// With the first all_gather that fits, or without one.
Expected<Rewritten> fuse_inside_any(const Program& program, std::uint32_t mesh, FusedOps ops,
                                    const FuseHow& how);

}  // namespace heddle
