// What the step `fuse` leaves on a reduce_scatter and the all_gather of its results: they and what
// is computed between them are one collective.
#pragma once

#include <string_view>

namespace heddle {

inline constexpr std::string_view kFusedAttr = "heddle.fused";         // a number, the same on both
inline constexpr std::string_view kFusedChunksAttr = "heddle.chunks";  // of a slice; 0: any number
inline constexpr std::string_view kFusedByAttr = "heddle.by";          // direct, ring, tree

}  // namespace heddle
