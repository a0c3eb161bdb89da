// The order of what a device does: a stage after partitioning, which keeps results as they are.
#pragma once

#include "heddle/program.h"

namespace heddle {

struct ScheduleOptions {
  // For a device on which a plan may take so much: order costs little of that.
  static ScheduleOptions within(std::int64_t device_memory);

  // Collectives of equal kind become one up to so many bytes on a device.
  std::int64_t combine_bytes = std::int64_t{128} << 20;
  // What collectives may leave on a device before it is needed, where they begin before others.
  std::int64_t ahead_bytes = std::int64_t{32} << 20;
  // What work that waits for collectives, or is done sooner for them, may keep on a device.
  std::int64_t kept_bytes = std::int64_t{16} << 20;
  // Whether other work runs while a collective is under way; else each is waited for at once.
  bool overlap = true;
};

// The same per-device program in the order in which it is done: collectives that do not wait for
// one another combined, each begun before work that it does not need and waited for behind work
// that does not need it, and without ops that nobody needs. The order is by figures of the mesh
// alone, so that it is the same on all ranks.
//
// A collective begins where its op stands. Where work is to run meanwhile, a
// `stablehlo.optimization_barrier` of its results says where it is waited for; what stands between
// the two and is worth it runs there (`is_worth_overlapping`).
Program schedule(const Program& program, const ScheduleOptions& options = {});

// Whether devices meet in it, or in an op of a loop or branch that it is.
bool is_meeting(const Program& program, const Op& op);
// Whether it begins in one step and is waited for in another.
bool travels(const Program& program, const Op& op);
// Whether an op takes long enough to have a place of its own in the order.
bool is_worth_overlapping(const Program& program, const Op& op);
// The collective whose results these are, all of them, where `op` waits for it; else kNone.
OpId awaited_by(const Program& program, const Op& op);

// Ops of a function that devices meet in, those inside of loops and branches counted once.
std::int64_t collectives_of(const Program& program, const Function& function);
// The most bytes that values of a function take at a time, arguments included, where no ops are
// fused and nothing is computed in place.
std::int64_t peak_bytes(const Program& program, const Function& function);

// The same op by op: what is there while each op of the function's body runs.
struct HeldOverTime {
  std::vector<std::int64_t> bytes;
  std::size_t fullest = 0;     // the op with the most
  std::vector<ValueId> there;  // then, the largest first
};
HeldOverTime held_over_time(const Program& program, const Function& function);

}  // namespace heddle
