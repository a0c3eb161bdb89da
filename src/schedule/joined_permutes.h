// Permutes of which nobody takes part in two: a shift along a row of devices and the way from its
// end to its begin are one ring.
#pragma once

#include <span>

#include "heddle/program.h"
#include "ir/replica_groups.h"

namespace heddle {

struct PermutePart {
  std::vector<Ids> pairs;  // of partitions
  std::vector<ValueId> operands;
};

// Whether nobody sends in both, and nobody gets something in both.
bool are_apart(std::span<const Ids> some, std::span<const Ids> others);

// Appends one permute that does the work of all parts, whose operands have the same types and whose
// pairs are apart. The results of each part: zeros where nobody sends, as from its own permute.
std::vector<std::vector<ValueId>> write_joined_permutes(Program& out, RegionId at,
                                                        std::span<const PermutePart> parts,
                                                        AttrDict attrs, LocId loc);

}  // namespace heddle
