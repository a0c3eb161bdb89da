// Where the elements of a piece of a tensor lie: in a rank's memory, and densely in a file.
#pragma once

#include "heddle/array.h"
#include "heddle/layout.h"
#include "heddle/mesh.h"
#include "heddle/tensor.h"

namespace heddle::runtime {

// The place of a rank on the mesh.
Coord coord_of(const Mesh& mesh, std::int64_t rank);

// Whether this rank is the one of all that hold its part which saves it.
Expected<bool> is_first_holder(const Layout& layout, const Coord& coord,
                               const std::vector<Box>& boxes, const AxisRegistry& axes);

// Places, in elements, of the indices of a box along each dimension; they add up.
struct Places {
  std::vector<std::vector<std::int64_t>> dims;
  std::int64_t base = 0;
  std::optional<Swizzle> swizzle;
};
// In dense row-major order of the box.
Places dense_places(const Box& box);
// In the memory of a rank.
Expected<Places> memory_places(const Layout& layout, const Box& box, const AxisRegistry& axes);

// The indices that two boxes share, as places of theirs; empty where they share none.
struct SharedPlaces {
  Places a, b;
};
std::optional<SharedPlaces> shared(const Box& box_a, const Places& a, const Box& box_b,
                                   const Places& b);

// Copies elements from places to places; a reason where one lies outside.
Verdict copy_places(std::span<const std::byte> from, const Places& source, std::span<std::byte> to,
                    const Places& target, int element_bytes);

}  // namespace heddle::runtime
