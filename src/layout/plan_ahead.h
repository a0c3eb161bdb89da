// What is still to be paid from a state of the search to its target.
#pragma once

#include "layout/plan_space.h"

namespace heddle {

// A sub-axis splits a slot that the target does not: which one does not matter, so there is one
// role for all of them, and states that differ only there are one state.
inline constexpr Role kElsewhere = 100;

inline bool splits(Role role) { return role <= kElsewhere; }

class Ahead {
 public:
  explicit Ahead(const PlanSpace& space);

  // No way to the target is faster; `local` is the bytes that a holder has now.
  double at_least(const State& state, double local) const;
  // About what is left: copies are cut, sums scattered, then splits moved one by one, then
  // gathered. Too much where some can go together, so it guides and proves nothing.
  double about(const State& state, double local) const;
  // Each sub-axis for itself, with the bytes that there are now: mostly far too much, so that a
  // search by it goes for fewer bytes first and then straight on.
  double one_by_one(const State& state, double local) const;

 private:
  double gathers(const State& state) const;
  double reductions(const State& state, double local) const;
  double least_move(std::size_t sub, Role role, double bytes) const;

  const PlanSpace& space_;
  double target_bytes_ = 0;
  std::vector<std::size_t> slowest_first_;
  // By sub-axis; of n blocks (n - 1) / n leave.
  std::vector<double> gather_latency_, reduce_latency_, pace_, extent_, leaves_;
};

}  // namespace heddle
