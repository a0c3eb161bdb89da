// Where what is done once lies: next to what it is done for.
#pragma once

#include "parallel/pipeline/anchors.h"

namespace heddle::pipeline {

struct Homes {
  std::vector<int> ops;        // by OpId: the node that an op after all micro-batches goes with
  std::vector<int> arguments;  // by argument: the first node that uses it, or its home
  std::vector<int> values;     // by ValueId: its home; -1: none
};

// `nodes` has all ops that are done for each micro-batch. Updates go with their largest operand:
// a gradient or a parameter; states go with the update that uses them.
Homes homes_of(const MicroProgram& micro, const std::vector<int>& nodes, const Uses& uses);

}  // namespace heddle::pipeline
