// How the dimensions of a scatter go together.
#pragma once

#include "ir/rules/index_dims.h"

namespace heddle {

struct ScatterDims {
  // A dimension of the updates: along which dimension of the inputs it runs, and which one of the
  // indices goes with it; -1 for none.
  struct Update {
    int input = -1, index = -1;
  };
  IndexDims numbers;
  std::size_t inputs = 1;       // operands are as many inputs, the indices, and as many updates
  std::vector<Update> updates;  // per dimension of the updates
  std::vector<bool> by_data;    // per dimension of the inputs: index vectors have a say in it
};

// Of a scatter that the verifier has passed.
ScatterDims scatter_dimensions(const Program& program, const Op& op);

// A scatter whose updates may come in any order, and so in parts.
bool combines_in_any_order(const Program& program, const Op& op);

// One window goes to one place: every element of the result knows whether it is changed.
bool is_single_update(const Program& program, const Op& op);

}  // namespace heddle
