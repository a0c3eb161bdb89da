// Values that are computed once more where they are needed: a mask of megabytes is made anew from
// its few indices sooner than it is moved.
#pragma once

#include "parallel/forms.h"

namespace heddle {

struct Again {
  // In the order in which they are computed, what they are made of first.
  struct Op {
    ValueId value = kNone;
    std::shared_ptr<const Choice> choice;
  };
  std::vector<Op> ops;
  double seconds = 0;  // to bring what they take, and to compute them
};

// How a value gets to a split by computing it there; none where that takes as long as `limit`.
std::optional<Again> computed_again(OnMesh& on, const Forms& forms, ValueId v, int split,
                                    double limit);

// What it takes to have the value so: by moves, or by computing it there.
double seconds_to_have(OnMesh& on, const Forms& forms, ValueId v, int split);

}  // namespace heddle
