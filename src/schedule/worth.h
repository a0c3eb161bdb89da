// What the order of ops is decided by: how long one takes, by the mesh's figures alone, so that all
// ranks of a run decide alike.
#pragma once

#include "heddle/mesh.h"
#include "heddle/op.h"
#include "heddle/program.h"

namespace heddle {

// The figures of the program's mesh; where it has none, those of a mesh that nothing is known of.
Mesh mesh_of(const Program& program);

// A loop or branch counts as `loop` seconds: nothing says how often it turns.
double op_seconds(const Program& program, const Op& op, const Mesh& mesh, double loop);
double collective_seconds(const Program& program, const Op& op, const Mesh& mesh);

}  // namespace heddle
