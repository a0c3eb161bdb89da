// Calls become what they call.
#pragma once

#include "heddle/program.h"

namespace heddle {

// The program with every func.call replaced by the body of its function, and every composite by its
// decomposition, inside regions too. Public functions stay; private ones stay only where an
// attribute of another op names them, or where they are only declared. Ops keep their locations. A
// reason where functions call one another in a circle (with their names), where calls and regions
// are nested too deep, or where more than `most_ops` ops, calls among them, would be written out.
Expected<Program> inline_calls(const Program& program, std::size_t most_ops = 2'000'000);

}  // namespace heddle
