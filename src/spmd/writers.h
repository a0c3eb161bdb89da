// Writers of a device's part of an op, one for each way; each carries out the op's decision.
#pragma once

#include "spmd/core.h"

namespace heddle {

Verdict write_whole(Core& core, OpId id);
Verdict write_local(Core& core, OpId id);
Verdict write_piece(Core& core, OpId id);
Verdict write_rows(Core& core, OpId id);
Verdict write_reduced_again(Core& core, OpId id);
Verdict write_concatenated(Core& core, OpId id);
Verdict write_joined(Core& core, OpId id);
Verdict write_scan_line(Core& core, OpId id);
Verdict write_sort_line(Core& core, OpId id);
Verdict write_first_of_sort(Core& core, OpId id);
Verdict write_top_of_parts(Core& core, OpId id);
Verdict write_window_scatter(Core& core, OpId id);
Verdict write_reshard(Core& core, OpId id);
Verdict write_manual(Core& core, OpId id);
Verdict write_loop(Core& core, OpId id);
Verdict write_branch(Core& core, OpId id);

// The op by its decision; fetches are those of the op that is being carried out.
Verdict write_as_decided(Core& core, OpId id);

// All ops of a region but the return.
Verdict write_ops(Core& core, RegionId region);

}  // namespace heddle
