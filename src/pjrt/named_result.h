// Results as JAX can name them: dimensions split along whole axes of its mesh.
#pragma once

#include <optional>

#include "heddle/program.h"
#include "heddle/split.h"

namespace heddle::pjrt {

// None where JAX has a name for how the result lies on each of its meshes. Else the nearest that
// has one, with the first of the axes along each dimension, by axes of `on`, the mesh of the split.
std::optional<Sharding> nearest_named(const Split& split, const MeshDecl& on,
                                      const std::vector<Mesh>& named);

// The meshes by which JAX may name results of which nothing is said: that of the first argument, or
// of an op.
std::vector<Mesh> naming_meshes(const Program& program, std::int64_t devices);

}  // namespace heddle::pjrt
