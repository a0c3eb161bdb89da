// The families that make up the op table, one file each.
#pragma once

#include <vector>

#include "heddle/op.h"

namespace heddle {

std::vector<OpDef> elementwise_ops();
// The short name of the op that computes it; empty where there is none.
std::string_view elementwise_name(ScalarOp op);
std::vector<OpDef> shape_ops();
std::vector<OpDef> index_ops();    // gather, scatter, sort, dynamic slices
std::vector<OpDef> reduce_ops();   // reductions, windows, matrix products, convolutions
std::vector<OpDef> linalg_ops();   // fft, triangular_solve, cholesky, batch norm, rng
std::vector<OpDef> control_ops();  // calls, loops, branches, tuples, tokens, custom calls
std::vector<OpDef> collective_ops();
std::vector<OpDef> chlo_ops();
std::vector<OpDef> check_ops();     // check.* and interpreter.* of test programs
std::vector<OpDef> sharding_ops();  // sdy.*

}  // namespace heddle
