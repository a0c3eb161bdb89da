// Client ops become core ops.
#pragma once

#include "heddle/program.h"

namespace heddle {

// The program with chlo ops written in stablehlo ops, at the same locations. Functions of f64 and
// of anything narrower are computed in f64 and rounded once. Two ops stay as they are: next_after
// of formats without a -0 or with fewer than 8 bits, and ragged_dot with group sizes that differ by
// batch.
struct LowerOptions {
  // Leaves ops that kernels compute as they are: those with a scalar op in their row.
  bool keep_scalar_ops = false;
  // Writes random bits as arithmetic at every element, for kernels.
  bool expand_random_bits = false;
};
Expected<Program> lower_chlo(const Program& program, const LowerOptions& options = {});

}  // namespace heddle
