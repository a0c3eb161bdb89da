// sort: lines along one dimension, all inputs together, ordered by the comparator region.
#include <numeric>

#include "ir/eval/index.h"
#include "ir/eval/index_space.h"
#include "ir/eval/scalar.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// A merge sort of our own: it is stable, it hands on reasons, and a comparator that contradicts
// itself cannot make it read outside of its lists.
template <typename Less>
Verdict merge_sort(std::vector<std::size_t>& order, Less&& less) {
  std::vector<std::size_t> merged(order.size());
  for (std::size_t width = 1; width < order.size(); width *= 2) {
    for (std::size_t begin = 0; begin < order.size(); begin += 2 * width) {
      std::size_t middle = std::min(begin + width, order.size());
      std::size_t end = std::min(begin + 2 * width, order.size());
      std::size_t left = begin, right = middle;
      for (std::size_t to = begin; to < end; ++to) {
        bool take_right = left == middle;
        if (left < middle && right < end) {
          HEDDLE_TRY(take_right, less(order[right], order[left]));
        }
        merged[to] = order[take_right ? right++ : left++];
      }
    }
    order.swap(merged);
  }
  return yes();
}

// One line of every input as scalars, so that a comparison copies only two elements of each.
using SortedLine = std::vector<std::vector<Array>>;

Expected<bool> comes_before(EvalContext& ctx, const SortedLine& line, std::size_t a,
                            std::size_t b) {
  std::vector<Array> args;
  for (const std::vector<Array>& cells : line) {
    args.push_back(cells[a]);
    args.push_back(cells[b]);
  }
  HEDDLE_TRY(std::vector<Array> answer, ctx.run_region(ctx.region(0), std::move(args)));
  return to_bool(answer[0]);
}

Verdict sort_line(EvalContext& ctx, std::vector<Array>& results, std::int64_t base,
                  std::int64_t step, std::int64_t length) {
  SortedLine line(results.size());
  for (std::size_t k = 0; k < results.size(); ++k)
    for (std::int64_t i = 0; i < length; ++i)
      line[k].push_back(element_array(ctx.operands[k], base + i * step));
  std::vector<std::size_t> order(static_cast<std::size_t>(length));
  std::iota(order.begin(), order.end(), std::size_t{0});
  HEDDLE_TRY_VOID(merge_sort(
      order, [&](std::size_t a, std::size_t b) { return comes_before(ctx, line, a, b); }));
  for (std::size_t k = 0; k < results.size(); ++k) {
    auto size = byte_size(results[k].dtype());
    auto out = results[k].mutable_bytes();
    for (std::int64_t i = 0; i < length; ++i)
      std::memcpy(out.data() + (base + i * step) * size,
                  line[k][order[static_cast<std::size_t>(i)]].element(0).data(),
                  static_cast<std::size_t>(size));
  }
  return yes();
}

Expected<std::size_t> sort_dimension(const Program& program, const Op& op) {
  HEDDLE_TRY(std::int64_t dimension, (OpAttrs{program, op}.integer_or("dimension", -1)));
  auto rank = static_cast<std::int64_t>(operand_type(program, op, 0).rank());
  if (dimension < -rank || dimension >= rank)
    return broken(op, "C4", "dimension = {} is not in {} … {}", dimension, -rank, rank - 1);
  return static_cast<std::size_t>(dimension < 0 ? dimension + rank : dimension);
}

}  // namespace

Expected<ResultTypes> sort_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(check_as_many(op, "C2"));
  const Type& first = operand_type(program, op, 0);
  std::vector<Type> takes;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& input = operand_type(program, op, i);
    HEDDLE_TRY_VOID(check_shape(op, "C3", first.shape, input));
    takes.insert(takes.end(), 2, Type::tensor(input.dtype, {}));
  }
  auto dimension = sort_dimension(program, op);
  if (!dimension) return dimension.why();
  HEDDLE_TRY_VOID((OpAttrs{program, op}.flag_or("is_stable", false)));
  const Type truth = Type::tensor(DType::i1, {});
  HEDDLE_TRY_VOID(check_region(program, op, 0, "C5", takes, {&truth, 1}));
  return like_operands(program, op, "C2", op.operand_count);
}

Expected<std::vector<Array>> eval_sort(EvalContext& ctx) {
  HEDDLE_TRY(std::size_t dimension, sort_dimension(ctx.program, ctx.op));
  std::vector<Array> results(ctx.operands.begin(), ctx.operands.end());
  Index strides = row_major_strides(results[0].shape());
  Shape lines = results[0].shape();
  std::int64_t length = lines[dimension];
  lines[dimension] = std::min<std::int64_t>(length, 1);
  for (IndexWalk at(lines); at; ++at)
    HEDDLE_TRY_VOID(sort_line(ctx, results, flat_index(*at, strides), strides[dimension], length));
  return results;
}

}  // namespace heddle
