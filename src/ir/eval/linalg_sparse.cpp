// heddle.csr_product: a sparse matrix, by rows, times a dense vector or matrix.
#include "ir/eval/linalg.h"
#include "ir/eval/reduce_common.h"

namespace heddle {

using namespace reduction;

Verdict csr_product_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& data = operand_type(program, op, 0);
  const Type& rows = operand_type(program, op, 1);
  const Type& columns = operand_type(program, op, 2);
  const Type& dense = operand_type(program, op, 3);
  if (data.rank() != 1 || columns.shape != data.shape)
    return broken(op, "", "elements are {} and their columns {}: expected vectors of one size",
                  data.str(), columns.str());
  if (!is_integer(rows.dtype) || !is_integer(columns.dtype) || rows.rank() != 1 ||
      rows.shape[0] < 1)
    return broken(op, "",
                  "rows are {} and columns {}: expected vectors of integers, of rows one "
                  "more than there are",
                  rows.str(), columns.str());
  if (dense.dtype != data.dtype || dense.rank() < 1 || dense.rank() > 2)
    return broken(op, "", "{} is multiplied by {}: expected a vector or a matrix of {}", data.str(),
                  dense.str(), name(data.dtype));
  Shape wanted = dense.shape;
  wanted[0] = rows.shape[0] - 1;
  return check_shape(op, "", wanted, result_type(program, op));
}

Expected<std::vector<Array>> evaluate_csr_product(EvalContext& ctx) {
  const Array& dense = ctx.operands[3];
  HEDDLE_TRY(const Integers rows, integer_values(ctx.operands[1]));
  HEDDLE_TRY(const Integers columns, integer_values(ctx.operands[2]));
  const std::int64_t height = dense.shape()[0];
  const std::int64_t width = dense.shape().size() == 2 ? dense.shape()[1] : 1;
  const auto count = static_cast<std::int64_t>(columns.size());
  return dispatch_wide({dense.dtype()}, [&](auto tag) {
    using Wide = typename decltype(tag)::type;
    const std::vector<Wide> elements = widened<Wide>(ctx.operands[0]);
    const std::vector<Wide> by = widened<Wide>(dense);
    std::vector<Wide> sums(static_cast<std::size_t>(ctx.result_type().elements()));
    for (std::size_t row = 0; row + 1 < rows.size(); ++row) {
      const std::int64_t end = std::min(rows[row + 1], count);
      for (std::int64_t e = std::max<std::int64_t>(rows[row], 0); e < end; ++e) {
        const std::int64_t column = columns[static_cast<std::size_t>(e)];
        if (column < 0 || column >= height) continue;  // padding
        for (std::int64_t j = 0; j < width; ++j) {
          Wide& sum = sums[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(j)];
          sum = add_product(sum, elements[static_cast<std::size_t>(e)],
                            by[static_cast<std::size_t>(column * width + j)]);
        }
      }
    }
    return std::vector<Array>{narrowed<Wide>(ctx.result_type(), sums)};
  });
}

}  // namespace heddle
