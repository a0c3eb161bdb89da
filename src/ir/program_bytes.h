// A program as bytes: equal where functions, ops, attributes, types and all numbers of ops, values
// and regions are equal. Layouts and where things stand in a text are left out.
#pragma once

#include "base/bytes.h"
#include "heddle/program.h"
#include "heddle/strided_view.h"

namespace heddle {

void write_program(const Program& program, ByteWriter& to);

// What an op computes, whatever its operands are called: its row, attributes and types. None where
// it has regions.
bool write_op_kind(const Program& program, const Op& op, ByteWriter& to);

// Where the elements of a view lie, whatever value it is of.
inline void write_strides(const StridedView& view, ByteWriter& to) {
  to.integer(view.offset);
  to.number(view.dims.size());
  for (const auto& dim : view.dims) {
    to.number(dim.size());
    for (const Stride& stride : dim) {
      to.integer(stride.size);
      to.integer(stride.step);
    }
  }
}

}  // namespace heddle
