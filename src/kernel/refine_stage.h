// A stage in front of or behind another one, so that the other one's innermost loop runs smoothly.
#pragma once

#include <functional>

#include "heddle/kernel.h"

namespace heddle {

struct RefinedStages {
  std::vector<Stage> before;
  Stage stage;
  std::vector<Stage> behind;
};

// Gives a buffer of reach `block`.
using NewBuffer = std::function<std::uint32_t(DType dtype, std::int64_t elements)>;

// Where other loops run around the innermost one:
// - updates at places that the innermost loop reaches in no even steps (sums of groups of ten
//   channels) go to a place per position of that loop, and are combined by a stage behind;
// - values that only the innermost loop changes, and that take some work, are computed once by a
//   stage in front.
// `room` is what a block may take for these, in bytes.
RefinedStages refine(const Kernel& kernel, Stage stage, std::int64_t room,
                     const NewBuffer& new_buffer);

}  // namespace heddle
