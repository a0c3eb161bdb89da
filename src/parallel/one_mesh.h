// Programs that speak of the same devices by several meshes.
#pragma once

#include "heddle/program.h"

namespace heddle {

// The program with all layouts over as many devices as `mesh` has on meshes of one set of axes, and
// the name of the mesh that is there for `mesh`. Where meshes cut the devices at different places,
// as 2x4 and 4x2, the axes are those of all cuts: 2x2x2. A reason where there are none, as for 2x3
// and 3x2. An empty name is the program's first mesh of several devices, and stays empty.
Expected<std::string> put_on_one_mesh(Program& program, const std::string& mesh);

}  // namespace heddle
