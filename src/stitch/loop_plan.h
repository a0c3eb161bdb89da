// LoopPlan: how one kernel runs a group of ops.
//
// The axes of the group are its loops. Some of them are outer: a block is one position of each (or
// a few, along a blocked axis), and blocks run at the same time. The other axes run inside of a
// block. A reduction whose result is used again at every element stays inside a block; one that
// runs over an outer axis leaves a part per chunk of blocks, which a second phase combines; ops
// behind such a reduction come in a third phase, the tail.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "heddle/machine.h"
#include "heddle/op.h"
#include "heddle/stitch.h"
#include "stitch/atoms.h"

namespace heddle {

struct GroupAxis {
  std::int64_t size = 1;
  AtomList atoms;          // major first
  int outer = -1;          // number of the outer loop that it is
  std::int64_t block = 0;  // positions of one block, of an outer axis
  // Runs as a loop inside of a block.
  bool is_inner() const { return outer < 0 || block > 1; }
};

using AxisList = std::vector<int>;

// A reduction, scan or scatter of the group, and the loops that it runs over.
struct Reduction {
  OpId op = kNone;
  AxisList kept = {}, reduced = {};  // axes of the result, and those that blocks must not part
  AxisList loops = {};               // axes that it runs over, in the order of its operand
  std::vector<int> windows = {};     // factors of the rule that are loops of their own
  // The other factors that it reduces: a dimension of an operand has the index of each.
  struct Place {
    int factor = 0;
    std::size_t operand = 0, dim = 0;
  };
  std::vector<Place> places = {};
  bool crosses = false;  // runs over an outer axis
  // A window that holds all elements up to its place: every step of the reduction is a result.
  bool scans = false, backward = false;
  std::size_t scan_dim = 0;
  // Updates at places that are data; `reaches` are axes of the result that those places lie along.
  bool scatters = false;
  AxisList reaches = {};
};

// A value that a block keeps for later stages, or gives away.
struct Kept {
  ValueId value = kNone;
  AxisList axes;
  int level = 0;         // stages of a lower level come first
  bool is_tile = false;  // computed at every point and kept, so that nobody computes it again
};

struct LoopPlan {
  AtomSpace space;
  std::vector<GroupAxis> axes;
  std::unordered_map<AtomId, int> axis_of;
  std::vector<int> outer;  // axes, slowest first
  std::int64_t chunks = 0;
  std::unordered_map<OpId, IndexRule> rules;
  std::vector<Reduction> reductions;       // in the order of the ops
  std::unordered_map<ValueId, Kept> kept;  // inside of a block
  std::unordered_set<OpId> tail;           // ops of the third phase
  std::vector<ValueId> stores;             // outputs of the first phase that are not cross-block
  std::unordered_set<ValueId> read_back;   // stores that the tail reads instead of computing them

  const Reduction* reduction(OpId op) const;
  AxisList axes_of(ValueId value) const;
  std::unordered_map<ValueId, int> levels;
};

// A reason where no such kernel can be right, or none would be of use.
Expected<LoopPlan> plan_loops(const Program& program, const StitchGroup& group,
                              const MachineFigures& machine);

}  // namespace heddle
