// Whether a program is well formed: structure first, then the type rule of every op.
#pragma once

#include "heddle/program.h"

namespace heddle {

// How deep regions may lie inside one another, the function's body counted; and functions and
// regions that run inside one another. Keeps recursion within the stack.
inline constexpr int kMostNesting = 400;

// The first defect: "f.mlir:3:5: [add] C1: … (from model.py:57)". Linear in the program's size.
// Type rules may rely on what is checked before any of them runs: numbers of operands, results and
// regions fit the row, operands are defined where they are used, every region ends with the one
// terminator of its kind, and sizes of types do not overflow.
Verdict verify(const Program& program);

}  // namespace heddle
