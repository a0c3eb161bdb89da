// A dot_general as loops around one matrix product, with operands and result where they lie.
#pragma once

#include <array>

#include "heddle/strided_view.h"

namespace heddle {

// The dimensions of both operands: shared, summed over, and those that only one has. The result has
// the shared ones first, then the left's own, then the right's.
struct ProductDims {
  std::vector<std::int64_t> lhs_batch, rhs_batch, lhs_sum, rhs_sum, lhs_own, rhs_own;
};
ProductDims product_dims(const Program& program, const Op& op);

// One loop, and how far each of left, right and result moves, in elements.
struct ProductLoop {
  std::int64_t size = 1, a = 0, b = 0, c = 0;
};

struct ProductPlan {
  // C = A * B; row-major, with so many elements from row to row. A is m x k, or k x m where it is
  // transposed; likewise B.
  std::int64_t m = 1, n = 1, k = 1, lda = 1, ldb = 1, ldc = 1;
  bool transpose_a = false, transpose_b = false;
  std::vector<ProductLoop> loops;  // around it, outermost first
  bool swapped = false;            // the right operand is A

  // By operand of the op: a copied one is read along `walk` and lies densely in that order.
  struct Side {
    std::int64_t offset = 0, elements = 0;
    bool copied = false;
    std::vector<Stride> walk;
  };
  std::array<Side, 2> sides;
};

// Every tensor as it lies.
ProductViews dense_views(const Program& program, const Op& op);

// The plan for dot and dot_general; operands are copied where no product reads them as they lie, or
// where it is asked for. Nothing where the result cannot be written as it is wanted.
std::optional<ProductPlan> plan_product(const Program& program, const Op& op,
                                        const ProductViews& views,
                                        const std::array<bool, 2>& copied = {false, false});

}  // namespace heddle
