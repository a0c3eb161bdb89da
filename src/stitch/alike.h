// Ops that do the same to other values, as the layers of a network do: what was found out about a
// pattern of one layer holds for that of every other.
#pragma once

#include <cstdint>
#include <vector>

#include "stitch/graph.h"

namespace heddle {

class Alike {
 public:
  explicit Alike(const Graph& graph);

  // Equal for patterns that compute the same from inputs of the same types and let the same values
  // out. Two others share a key about as often as two random numbers of 64 bits do.
  std::uint64_t key(const Pattern& pattern) const;

 private:
  const Graph& graph_;
  std::vector<std::uint32_t> kind_;  // by vertex: equal for ops that do the same
  // Numbers of values in the pattern at hand; those of older ones count for nothing.
  mutable std::vector<std::uint32_t> number_, stamp_, member_;
  mutable std::uint32_t epoch_ = 0;
};

}  // namespace heddle
