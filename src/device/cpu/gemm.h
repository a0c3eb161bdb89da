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

// Parts of it that workers share.
std::int64_t gemm_parts(const GemmBatch& batch, int threads);

void run_gemm(const GemmBatch& batch, const std::byte* a, const std::byte* b, std::byte* c,
              ThreadPool& pool);

}  // namespace heddle::cpu
