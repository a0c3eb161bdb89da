// A program as bytes: equal where functions, ops, attributes, types and all numbers of ops, values
// and regions are equal. Layouts and where things stand in a text are left out.
#pragma once

#include "base/bytes.h"
#include "heddle/program.h"

namespace heddle {

void write_program(const Program& program, ByteWriter& to);

}  // namespace heddle
