// The space that the planner searches. Both layouts are cut into common pieces: dimensions into
// slots, mesh axes into sub-axes of the same extents. Then a layout is one role per sub-axis.
#pragma once

#include <array>

#include "heddle/plan.h"
#include "layout/move_cost.h"

namespace heddle {

using Role = std::uint8_t;
inline constexpr Role kReplicated = 200;
inline constexpr Role kPending = 201;        // the source's reduction
inline constexpr Role kPendingTarget = 202;  // the target's, where it is another one
inline constexpr Role kPinnedSource = 203;   // only one position of the sub-axis has data
inline constexpr Role kPinnedTarget = 204;
inline constexpr std::size_t kMaxSubAxes = 16;
inline constexpr std::size_t kMaxSlots = 64;

using State = std::array<Role, kMaxSubAxes>;

struct Slot {
  std::size_t dim;
  std::int64_t extent, place;
};

struct PlanSpace {
  std::vector<DimInfo> dims;  // what all states share; no halo
  std::vector<Slot> slots;    // by dimension, slowest first
  std::vector<SubAxis> subs;
  std::vector<Hop> hops;  // of each sub-axis
  State source{}, target{};
  std::vector<std::int64_t> source_pin, target_pin;  // positions of pinned sub-axes
  ReduceOp source_reduce = ReduceOp::sum, target_reduce = ReduceOp::sum;
  bool one_reduction = true;     // kPendingTarget is not used
  bool repad_source = false;     // the source must be copied locally before the first move
  std::int64_t source_halo = 0;  // bytes that the source has beside its state's
  // The target arranges its memory otherwise: what the copy at the end takes, if not part of a
  // slice.
  double last_copy = 0;
  std::int64_t last_copy_live = 0;
  std::int64_t element_bits = 32;
  AxisId memory = 0;

  bool in_slot(Role role) const { return role < kMaxSlots; }
  std::int64_t local_elements(const State& state) const;
  std::int64_t local_bytes(const State& state) const;
  Layout layout_of(const State& state) const;
};

// A space for the two layouts, or why there is none and only a general exchange will do.
Expected<PlanSpace> make_plan_space(const Layout& source, const Layout& target, const Mesh& mesh,
                                    const AxisRegistry& axes, const PlanOptions& options);

bool has_halo(const Layout& layout);
Layout without_halo(const Layout& layout);

// Bytes of the block that one holder has, padding and halo included; kMostBytes and no more.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 61;
std::int64_t holder_bytes(const Layout& layout, const AxisRegistry& axes,
                          std::int64_t element_bits);

}  // namespace heddle
