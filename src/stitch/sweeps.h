// Sweeps: stencils one after the other, as one kernel that passes over the rows once.
//
// Every element of a sweep needs a few around it of the sweep before. A block has some rows of the
// result and, of what goes before, a few more at both ends; each of those is computed once a block.
// A device that passes over rows with the last few of every sweep in registers needs no memory for
// them.
#pragma once

#include <optional>
#include <unordered_map>

#include "stitch/latency.h"

namespace heddle {

struct Sweeps {
  // Of a value that a block needs, from its first row on and behind its last one; or columns.
  struct Margin {
    std::int64_t low = 0, high = 0;
  };
  std::vector<ValueId> kept;  // sweeps but the last, in the order of their ops
  std::unordered_map<ValueId, Margin> rows, columns;  // of inputs, sweeps and the result
};

// Where the group is such a chain, of f32 matrices, with one result.
std::optional<Sweeps> find_sweeps(const Program& program, const StitchGroup& group);

// What it takes where a block has the rows that its choice says, or as many as are best (0).
KernelEstimate estimate_sweeps(const Program& program, const StitchGroup& group,
                               const Sweeps& sweeps, std::int64_t rows,
                               const MachineFigures& machine);
std::int64_t rows_of_sweeps(const Program& program, const StitchGroup& group, const Sweeps& sweeps,
                            const MachineFigures& machine);

}  // namespace heddle
