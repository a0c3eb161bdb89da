// Which steps become one fused step: a marked reduce_scatter, the launch that uses its sum, the
// all_gather of what that makes, a norm between them and products at both ends.
#pragma once

#include "runtime/step.h"

namespace heddle::runtime {

inline constexpr std::size_t kNowhere = SIZE_MAX;

bool holds(const std::vector<SlotId>& slots, SlotId slot);
// Whether the order of two steps matters.
bool meet(const Step& a, const Step& b);

// Steps, by place in their list.
struct FusedMembers {
  std::size_t product = kNowhere, user = kNowhere;       // library calls
  std::size_t scatter = kNowhere, scattered = kNowhere;  // where it begins, where it is waited for
  std::vector<std::size_t> before = {}, after = {};      // launches, on both sides of the norm
  std::size_t norm = kNowhere, normed = kNowhere;
  std::size_t launch = kNowhere;  // chunk by chunk
  std::size_t gather = kNowhere, gathered = kNowhere;

  // All that are there, in order.
  std::vector<std::size_t> all() const;
  std::size_t first() const { return scatter != kNowhere ? scatter : gather; }  // collective
};

// Those of the collective that begins there: a reduce_scatter, or an all_gather that none belongs
// to. A reason where they cannot be one step.
Expected<FusedMembers> find_members(const StepList& list, std::size_t collective);

}  // namespace heddle::runtime
