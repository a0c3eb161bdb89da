// What one device takes for its piece of an op, before anything is known of kernels: for choosing
// which factors of the op are split. What moves between devices is the planner's to price.
#pragma once

#include "cost/instructions.h"
#include "heddle/mesh.h"
#include "heddle/op.h"

namespace heddle::cost {

// What the piece reads and writes, and the points of its iteration space.
struct Piece {
  double bytes = 0;   // of memory
  double cached = 0;  // that come from a cache
  double steps = 0;
  Instructions work = {};    // of all of its elements
  bool is_launched = false;  // it is the end of a kernel, or a call

  // A value that is read or written: from memory, or as far as it is small beside it from the
  // cache.
  void add_value(double size, const DeviceFigures& device);
};

// The device is one of the mesh's, which knows its rates.
double piece_seconds(OpClass cls, const Piece& piece, const Mesh& mesh);

// Lines of `length` elements, so many bytes in all, sorted by merging runs.
double sort_seconds(double bytes, std::int64_t length, const Mesh& mesh);

// A move that the planner has no plan for, because nothing is sent or no layout says it.
inline constexpr double kUnplanned = 1e-3;

// A way that needs more memory than a device has is the last resort, by as many seconds.
inline constexpr double kDoesNotFit = 1e9;

}  // namespace heddle::cost
