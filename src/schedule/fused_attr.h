// What the step `fuse` leaves on a reduce_scatter, the all_gather of its results, and products at
// both ends: they and what is computed between them are one collective.
#pragma once

#include <string_view>

namespace heddle {

inline constexpr std::string_view kFusedAttr = "heddle.fused";         // a number, the same on all
inline constexpr std::string_view kFusedChunksAttr = "heddle.chunks";  // of a slice; 0: any number
inline constexpr std::string_view kFusedByAttr = "heddle.by";          // direct, ring, tree
inline constexpr std::string_view kFusedThroughAttr = "heddle.through";  // direct, bandwidth, latency
inline constexpr std::string_view kFusedLanesAttr = "heddle.lanes";      // of a rank

}  // namespace heddle
