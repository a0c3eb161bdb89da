// Many products of one shape, over the thread pool.
#pragma once

#include <vector>

#include "device/cpu/blas.h"
#include "heddle/dtype.h"
#include "heddle/thread_pool.h"

namespace heddle::cpu {

// A loop around a product: how many times, and how far each operand moves, in elements.
struct GemmLoop {
  std::int64_t count = 1, a = 0, b = 0, c = 0;
};

struct GemmBatch {
  DType dtype = DType::f32;
  GemmShape shape;
  std::vector<GemmLoop> loops;  // outermost first
};

// How one of several products is cut: into bands of rows, or of columns.
struct GemmCut {
  bool columns = false;
  std::int64_t parts = 1;

  // Where a band begins; at multiples of the vector width, so that bands do not share lines.
  std::int64_t border(std::int64_t part, std::int64_t total) const {
    return part == parts ? total : total * part / parts / 16 * 16;
  }
};
GemmCut gemm_cut(const GemmShape& shape, std::int64_t turns, int threads);
// How often the loops turn.
std::int64_t gemm_turns(const GemmBatch& batch);
// Several small products are one part of so many.
std::int64_t gemm_groups(const GemmShape& shape, std::int64_t turns, int threads);

// Parts of it that workers share.
std::int64_t gemm_parts(const GemmBatch& batch, int threads);

void run_gemm(const GemmBatch& batch, const std::byte* a, const std::byte* b, std::byte* c,
              ThreadPool& pool);

}  // namespace heddle::cpu
