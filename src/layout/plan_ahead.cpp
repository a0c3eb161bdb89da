#include "layout/plan_ahead.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace heddle {

Ahead::Ahead(const PlanSpace& space) : space_(space) {
  target_bytes_ = static_cast<double>(space.local_elements(space.target)) *
                  static_cast<double>(space.element_bits) / 8;
  slowest_first_.resize(space.subs.size());
  std::iota(slowest_first_.begin(), slowest_first_.end(), std::size_t{0});
  for (const Hop& hop : space.hops) {
    gather_latency_.push_back(collective_seconds(MoveKind::all_gather, hop, 0));
    reduce_latency_.push_back(collective_seconds(MoveKind::reduce_scatter, hop, 0));
    pace_.push_back(1 / hop.link.bandwidth);
    extent_.push_back(static_cast<double>(hop.extent));
    leaves_.push_back(1 - 1 / extent_.back());
  }
  std::stable_sort(slowest_first_.begin(), slowest_first_.end(),
                   [&](std::size_t a, std::size_t b) { return pace_[a] > pace_[b]; });
}

// Splits that the target does not have are gathered. After the last of these moves a holder has at
// least what the target has, before it an n-th of that, and so on back; it is cheapest when the
// slow links come first, with the least to carry. Over links that are faster still, others may be
// split for a while to make the pieces smaller.
double Ahead::gathers(const State& state) const {
  double piece = target_bytes_;
  double seconds = 0;
  double smaller = 1;  // by splits for a while, over links faster than the one at hand
  double waiting = 1;
  double pace = 0;
  for (std::size_t k = slowest_first_.size(); k-- > 0;) {
    const std::size_t i = slowest_first_[k];
    if (splits(space_.target[i])) continue;
    const double n = extent_[i];
    if (pace_[i] > pace) {
      smaller *= std::exchange(waiting, 1);
      pace = pace_[i];
    }
    if (!splits(state[i])) {
      waiting *= n;
      continue;
    }
    seconds += gather_latency_[i] + leaves_[i] * piece / smaller * pace_[i];
    piece /= n;
  }
  return seconds;
}

// The same the other way round: a pending reduction that is to be finished is scattered at best,
// the fast links first, after everything that is a copy now has been cut.
double Ahead::reductions(const State& state, double local) const {
  double seconds = 0;
  for (std::size_t k = slowest_first_.size(); k-- > 0;) {
    const std::size_t i = slowest_first_[k];
    if (state[i] != kPending || space_.target[i] == kPending) continue;
    const double n = extent_[i];
    seconds += reduce_latency_[i] + leaves_[i] * local * pace_[i];
    local /= n;
  }
  return seconds;
}

// What one sub-axis pays at least, where several may go at once.
double Ahead::least_move(std::size_t sub, Role role, double bytes) const {
  const Hop& hop = space_.hops[sub];
  const Role goal = space_.target[sub];
  if (role == kPinnedSource)
    return collective_seconds(goal == kPinnedTarget ? MoveKind::permute : MoveKind::broadcast, hop,
                              bytes);
  return hop.link.latency + leaves_[sub] * bytes * pace_[sub];
}

double Ahead::at_least(const State& state, double local) const {
  double cut = local;    // after everything that is a copy is cut
  double least = local;  // and every pending reduction scattered
  for (std::size_t i = 0; i < space_.subs.size(); ++i) {
    if (splits(state[i])) continue;
    const double n = extent_[i];
    least /= n;
    if (state[i] != kPending || space_.target[i] == kPending) cut /= n;
  }
  double together = 0;
  double parts = 1;
  double latency = 0;
  double pace = 1e300;
  for (std::size_t i = 0; i < space_.subs.size(); ++i) {
    const Role goal = space_.target[i];
    if (state[i] == goal) continue;
    const bool moves = splits(state[i]) && splits(goal);
    if (moves || state[i] == kPinnedSource)
      together = std::max(together, least_move(i, state[i], least));
    if (!moves) continue;
    parts *= extent_[i];
    latency = std::max(latency, space_.hops[i].link.latency);
    pace = std::min(pace, pace_[i]);
  }
  // However the moving splits are grouped, of N blocks all but one leave.
  if (parts > 1) together = std::max(together, latency + (1 - 1 / parts) * least * pace);
  // Less than all by what sums of floating-point numbers may be off.
  return (gathers(state) + reductions(state, cut) + together) * (1 - 1e-9);
}

double Ahead::one_by_one(const State& state, double local) const {
  double seconds = 0;
  for (std::size_t i = 0; i < space_.subs.size(); ++i) {
    const Role goal = space_.target[i];
    if (state[i] == goal || state[i] == kReplicated) continue;
    MoveKind kind = MoveKind::all_gather;
    if (state[i] == kPinnedSource)
      kind = goal == kPinnedTarget ? MoveKind::permute : MoveKind::broadcast;
    else if (state[i] == kPending)
      kind = splits(goal) ? MoveKind::reduce_scatter : MoveKind::all_reduce;
    else if (splits(goal))
      kind = MoveKind::all_to_all;
    seconds += collective_seconds(kind, space_.hops[i], local);
  }
  return seconds;
}

double Ahead::about(const State& state, double local) const {
  double seconds = 0;
  double piece = target_bytes_;
  for (std::size_t i = 0; i < space_.subs.size(); ++i) {
    if (state[i] == kPinnedSource && space_.target[i] != kPinnedSource)
      seconds += least_move(i, state[i], local);
    if (state[i] == kReplicated && splits(space_.target[i])) local /= extent_[i];
  }
  for (std::size_t k = slowest_first_.size(); k-- > 0;) {
    const std::size_t i = slowest_first_[k];
    const bool reduces = state[i] == kPending && space_.target[i] != kPending;
    const double n = extent_[i];
    if (reduces) {
      seconds += reduce_latency_[i] + leaves_[i] * local * pace_[i];
      local /= n;
    }
    if (splits(space_.target[i]) || !(reduces || splits(state[i]))) continue;
    seconds += gather_latency_[i] + leaves_[i] * piece * pace_[i];
    piece /= n;
  }
  for (std::size_t i = 0; i < space_.subs.size(); ++i)
    if (splits(state[i]) && splits(space_.target[i]) && state[i] != space_.target[i])
      seconds += collective_seconds(MoveKind::all_to_all, space_.hops[i], local);
  return seconds;
}

}  // namespace heddle
