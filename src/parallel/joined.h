// Slices that are never values of their own: rolls and borders (jnp.roll, jnp.pad) put them
// together again, top_k takes the first elements of a sort.
#pragma once

#include "parallel/choose.h"
#include "parallel/window.h"

namespace heddle {

struct Slices {
  std::vector<bool> only_joined;                           // by OpId
  std::unordered_map<ValueId, std::vector<OpId>> of_sort;  // of what sorts give
  bool is_piece(OpId id) const { return id < only_joined.size() && only_joined[id]; }
};
// Slices all of whose users are concatenates of the same region along the dimension that they cut,
// and those of sorts.
Slices find_slices(const Program& program, const std::vector<int>& uses);

// How a concatenate takes its parts where neighbours or a few devices have them; none where they
// come from further away, or would have to be brought there first.
std::vector<JoinedPart> joined_parts(OnMesh& on, const Op& op, int resting, const Slices& slices,
                                     const Forms& forms);
// Which elements of a part's source each device has in its place.
Window joined_place(const JoinedPart& part, std::size_t dim, const SplitAxes& axes,
                    std::int64_t block);

// The most elements from the first on that anybody takes of a sort's results along a dimension; 0:
// somebody takes others too.
std::int64_t wanted_first(const Program& program, const Op& op, std::size_t dim,
                          const Slices& slices, const std::vector<int>& uses);

}  // namespace heddle
