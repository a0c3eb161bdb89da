// What a move costs: latency and bandwidth per link, for each medium.
#pragma once

#include <span>

#include "heddle/plan.h"

namespace heddle {

// One group of holders along part of an axis.
struct Hop {
  std::int64_t extent;
  Link link;
  Medium medium;
};

// Seconds for one collective over one sub-axis; `bytes` is what a holder has before the move.
double collective_seconds(MoveKind kind, const Hop& hop, double bytes);

// An all-to-all over several sub-axes at once; each message pays the slowest link it crosses.
double all_to_all_seconds(std::span<const Hop> hops, double bytes);

// Parts that all holders of several sub-axes want as a whole: over one sub-axis after the other.
double gather_seconds(std::span<const Hop> hops, double bytes);

// One message from every holder to another along the slowest of the sub-axes.
double message_seconds(std::span<const Hop> hops, double bytes);

// Bytes that one holder receives.
std::int64_t collective_received(MoveKind kind, std::int64_t n, std::int64_t bytes);

}  // namespace heddle
