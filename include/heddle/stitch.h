// Stitching: which ops of a region become one kernel, and which kernels one launch.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heddle/device_calls.h"
#include "heddle/machine.h"
#include "heddle/program.h"
#include "heddle/strided_view.h"

namespace heddle {

// What a schedule leaves open; chosen by cost.
struct LaunchChoice {
  std::int64_t block_elements = 4096;  // that a block has at least, where there are enough
  bool keep_heavy = true;  // expensive values that several stages need are kept, not computed again
  // Reductions that every element needs again run over all blocks, and what follows is a phase of
  // its own: reads more than once, but keeps all workers busy where a block of whole reductions
  // would not.
  bool across = false;
  bool streams = false;         // results of the launch are more than any cache keeps
  std::int64_t sweep_rows = 0;  // of a block that passes over stencils one after the other; 0: none
  friend bool operator==(const LaunchChoice&, const LaunchChoice&) = default;
};

// Ops that one kernel computes.
struct StitchGroup {
  std::vector<OpId> ops;         // in the order of the region
  std::vector<ValueId> inputs;   // from outside of the group, each once
  std::vector<ValueId> outputs;  // that somebody outside of the group uses, each once
  LaunchChoice choice = {};
  double seconds = 0;                   // that it should take, by the cost model
  double bytes_again = 0;               // that it moves beside every input and result once
  std::vector<std::string> notes = {};  // where they were asked for: why it is as it is
};

// One launch of kernels that do not depend on each other; or an op that stands alone, for a library
// or the reference evaluation, or because it has regions to run (while, if, case).
struct StitchUnit {
  std::vector<StitchGroup> kernels;
  OpId op = kNone;  // only where there are no kernels
  // Of a product that reads what other ops would have moved, or writes it moved.
  std::optional<ProductViews> views = {};
};

struct StitchPlan {
  std::vector<StitchUnit> units;  // in an order in which they can run
};

struct StitchOptions {
  bool fuse = true;  // false: every op by itself
  MachineFigures machine = {};
  // Of the device: what it computes by calls, kernels do not; none: whatever a kernel can compute
  // is stitched.
  const DeviceCalls* calls = nullptr;
  bool explain = false;  // fill in StitchGroup::notes
  // Whether a kernel can be written for a group that is planned; none: whatever has a schedule.
  std::function<bool(const Program&, const StitchGroup&)> can_lower = {};
};

// The program in which every stretch of work between calls writes for itself what is spread out: a
// repeated or widened value is then no reason to keep many bytes from one kernel to another.
Expected<Program> with_own_copies(const Program& program, const DeviceCalls* calls,
                                  const MachineFigures& machine);

// The program in which calls of products do what follows them (bias, ReLU, GELU, addition), where
// the device can do so and another call reads what comes out.
Expected<Program> with_epilogues(const Program& program, const DeviceCalls& calls);

// The program in which matrices with uneven rows have them further apart, where products gain more
// by that than it costs: pads after what makes them, slices before what reads them, which are
// folded into kernels and calls.
Expected<Program> with_even_rows(const Program& program, const DeviceCalls& calls,
                                 const MachineFigures& machine);

// Elements of the row and parts below.
struct LongScans {
  std::int64_t least_row = 1 << 20;  // shorter ones stay whole
  std::int64_t shortest_part = 512, longest_part = 1 << 14;
};
// The program in which a cumulative sum (product, least, greatest) of all elements of a value, one
// after the other, is one of parts of them, to each of which comes what all parts before it come
// to. For devices whose workers count all together; a row that has no such parts of one length
// stays, and so do several rows, which are one block each to the plan that follows.
Expected<Program> with_scans_in_parts(const Program& program, const MachineFigures& machine,
                                      const LongScans& sizes = {});

// Plans the ops of a region, constants and the terminator left out: they are nobody's work.
Expected<StitchPlan> stitch(const Program& program, RegionId region,
                            const StitchOptions& options = {});

// Whether a kernel can compute it, and the device has no call that it prefers; no calls: it has
// none.
bool is_stitchable(const Program& program, const Op& op, const DeviceCalls* calls);

}  // namespace heddle
