// Client ops become core ops.
#pragma once

#include <functional>

#include "heddle/program.h"

namespace heddle {

// The program with chlo ops written in stablehlo ops, at the same locations. Functions of f64 and
// of anything narrower are computed in f64 and rounded once. Two ops stay as they are: next_after
// of formats without a -0 or with fewer than 8 bits, and ragged_dot with group sizes that differ by
// batch.
struct LowerOptions {
  // Ops that are left as they are, because something computes them better so.
  std::function<bool(const OpDef&)> keep = {};
};
Expected<Program> lower_chlo(const Program& program, const LowerOptions& options = {});

// The program as kernels can compute it, once it is clear what each device does: random bits as
// arithmetic at every element, comparisons by total order as comparisons of bits.
Expected<Program> lower_for_kernels(const Program& program);

// The program with complex arithmetic, comparisons and moves of tensors written for their real and
// imaginary parts, which kernels can compute. What has no such form (fft, dot_general, log, …)
// takes and gives complex numbers as before.
Expected<Program> lower_complex(const Program& program);

}  // namespace heddle
