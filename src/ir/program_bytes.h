// A program as bytes: equal where functions, ops, attributes, types and all numbers of ops, values
// and regions are equal. Layouts and where things stand in a text are left out.
#pragma once

#include "base/bytes.h"
#include "heddle/program.h"

namespace heddle {

void write_program(const Program& program, ByteWriter& to);

// What an op computes, whatever its operands are called: its row, attributes and types. None where
// it has regions.
bool write_op_kind(const Program& program, const Op& op, ByteWriter& to);

}  // namespace heddle
