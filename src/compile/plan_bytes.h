// What was decided about a program, as bytes: units of every region, their groups and launches.
#pragma once

#include "base/bytes.h"
#include "runtime/compiled.h"

namespace heddle {

// All units, with their groups and without kernels and code.
void write_units(const runtime::CompiledProgram& compiled, ByteWriter& to);
// Units as they were written; a reason where they are not of this program. `compiled` is then as
// it was.
Verdict read_units(std::string_view bytes, runtime::CompiledProgram& compiled);

}  // namespace heddle
