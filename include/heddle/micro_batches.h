// Micro-batches: the batch of a program cut into equal parts, which are worked on one after the
// other. It is a split over time: what lies on the devices of one axis elsewhere is there at one
// turn after the other, and a sum over devices is a sum over turns.
#pragma once

#include <optional>

#include "heddle/spmd.h"

namespace heddle {

// A dimension of an argument along which the batch lies.
struct BatchDim {
  std::size_t argument = 0, dim = 0;
  friend bool operator==(const BatchDim&, const BatchDim&) = default;
};

struct MicroBatchOptions {
  std::string function = "main";
  std::int64_t count = 1;
  std::optional<BatchDim> batch = {};  // none: it is found
  std::vector<Carried> carried = {};   // these stay whole
};

// What is done for one micro-batch. Arguments and results that are cut have their part of the
// batch; one more argument, the last, is the number of the micro-batch, a ui32. What is summed over
// all of them goes through `heddle.sum_over_micro_batches`, and what comes after is done once.
struct MicroBatches {
  Program program;
  std::string function;
  std::int64_t count = 1;
  BatchDim batch;
  std::vector<int> arguments, results;  // the dimension that is cut; -1: whole
  std::size_t number() const { return arguments.size(); }
};

// A reason where the program needs all of its batch at once: it names the op that does. `program`
// is verified and has no calls.
Expected<MicroBatches> cut_into_micro_batches(const Program& program,
                                              const MicroBatchOptions& options);

// The dimension of the data that most of the work goes along.
Expected<BatchDim> find_batch(const Program& program, const std::string& function,
                              const std::vector<Carried>& carried = {});

// When an op of the function's own region is done.
enum class MicroPhase : std::uint8_t {
  before,  // once: it does not depend on the batch
  each,    // for every micro-batch
  after,   // once, behind sums over all of them
};
// By OpId. `function` is that of the micro-batches, or what a device of a mesh does of it. A reason
// where one micro-batch would need what only all of them give.
Expected<std::vector<MicroPhase>> micro_phases(const Program& program, const Function& function,
                                               const MicroBatches& cut);

// One turn after the other: a loop over micro-batches that sums up, then what comes after.
Expected<Program> accumulated(const Program& program, const MicroBatches& cut);
// The same for what every device of a mesh does; arguments and results are those of the whole batch
// again, of which each device has its share of every micro-batch.
Expected<Spmd> accumulated(Spmd spmd, const MicroBatches& cut);

}  // namespace heddle
