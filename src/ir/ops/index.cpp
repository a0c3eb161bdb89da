// Elements change places by indices that are themselves data.
#include "ir/eval/index.h"

#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

using Kind = FormWord::Kind;
constexpr FormWord kSizesWords[] = {{"sizes", "slice_sizes"}};
constexpr FormWord kTorchWords[] = {{"dim", "dim", Kind::integer},
                                    {"batch_dims", "batch_dims", Kind::integer}};

// Start indices: integer scalars of one type, one per dimension.
Verdict check_starts(const Program& program, const Op& op, std::size_t first, std::size_t rank,
                     std::string_view count_label, std::string_view type_label) {
  HEDDLE_TRY_VOID(check_count(op, count_label, "start_indices", op.operand_count - first, rank));
  for (std::size_t i = first; i < op.operand_count; ++i) {
    const Type& type = operand_type(program, op, i);
    if (!is_integer(type.dtype) || type.rank() != 0 || type != operand_type(program, op, first))
      return broken(op, type_label, "start indices must be integer scalars of one type, got {}",
                    type.str());
  }
  return yes();
}

Verdict check_within(const Op& op, std::string_view label, const Shape& part, const Type& whole) {
  for (std::size_t d = 0; d < part.size(); ++d)
    if (part[d] < 0 || part[d] > whole.shape[d])
      return broken(op, label, "size {} of dimension {} is not in 0 … {} of {}", part[d], d,
                    whole.shape[d], whole.str());
  return yes();
}

Expected<ResultTypes> dynamic_slice_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  HEDDLE_TRY_VOID(check_starts(program, op, 1, operand.rank(), "C2", "C3"));
  HEDDLE_TRY(Shape sizes, (OpAttrs{program, op}.integers("slice_sizes")));
  HEDDLE_TRY_VOID(check_count(op, "C2", "slice_sizes", sizes.size(), operand.rank()));
  HEDDLE_TRY_VOID(check_within(op, "C4", sizes, operand));
  return typed(Type::tensor(operand.dtype, std::move(sizes)), "C1", "C5");
}

Expected<ResultTypes> dynamic_update_slice_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& update = operand_type(program, op, 1);
  HEDDLE_TRY_VOID(check_same_dtype(op, "C2", update, operand));
  HEDDLE_TRY_VOID(check_count(op, "C3", "the update's shape", update.rank(), operand.rank()));
  HEDDLE_TRY_VOID(check_starts(program, op, 2, operand.rank(), "C4", "C5"));
  HEDDLE_TRY_VOID(check_within(op, "C6", update.shape, operand));
  return like_operand(program, op, 0, "C1");
}

Expected<ResultTypes> torch_index_select_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& index = operand_type(program, op, 1);
  if (!is_integer(index.dtype))
    return broken(op, "", "the index must be of integers, got {}", index.str());
  OpAttrs attrs{program, op};
  HEDDLE_TRY(std::int64_t dim, attrs.integer("dim"));
  HEDDLE_TRY(std::int64_t batch, attrs.integer_or("batch_dims", 0));
  HEDDLE_TRY_VOID(check_axes(op, "", "dim", {&dim, 1}, operand.rank()));
  if (batch < 0 || batch > dim || batch > static_cast<std::int64_t>(index.rank()))
    return broken(op, "", "batch_dims = {} is not in 0 … dim = {}, or above the rank of {}", batch,
                  dim, index.str());
  for (auto d = 0U; d < batch; ++d)
    if (operand.shape[d] != index.shape[d])
      return broken(op, "", "batch dimension {} differs: {} and {}", d, operand.str(), index.str());
  Shape expected(operand.shape.begin(), operand.shape.begin() + dim);
  expected.insert(expected.end(), index.shape.begin() + batch, index.shape.end());
  expected.insert(expected.end(), operand.shape.begin() + dim + 1, operand.shape.end());
  return typed(Type::tensor(operand.dtype, std::move(expected)), "", "");
}

}  // namespace

std::vector<OpDef> index_ops() {
  return {
      {.name = "stablehlo.dynamic_slice",
       .cls = OpClass::move,
       .operands = {1, -1},
       .form = Form::words,
       .words = kSizesWords,
       .type_rule = dynamic_slice_rule,
       .evaluate = eval_dynamic_slice,
       .index_rule = dynamic_slice_index_rule,
       .edit_piece = edit_dynamic_slice_piece,
       .emission = Emission::dynamic_slice,
       .parts = Parts::lookup},
      {.name = "stablehlo.dynamic_update_slice",
       .cls = OpClass::move,
       .operands = {2, -1},
       .form = Form::functional,
       .type_rule = dynamic_update_slice_rule,
       .evaluate = eval_dynamic_update_slice,
       .index_rule = dynamic_update_slice_index_rule,
       .edit_piece = edit_dynamic_update_slice_piece,
       .emission = Emission::dynamic_update_slice,
       .call = DeviceCall::slice_update},
      {.name = "stablehlo.gather",
       .cls = OpClass::move,
       .operands = 2,
       .form = Form::generic,
       .attributes = "dimension_numbers slice_sizes indices_are_sorted",
       .type_rule = gather_rule,
       .evaluate = eval_gather,
       .index_rule = gather_index_rule,
       .edit_piece = edit_gather_piece,
       .emission = Emission::gather,
       .parts = Parts::lookup},
      {.name = "stablehlo.dynamic_gather",
       .cls = OpClass::move,
       .operands = 3,
       .form = Form::generic,
       .attributes = "dimension_numbers indices_are_sorted",
       .type_rule = given<dynamic_gather_rule>,
       .evaluate = eval_dynamic_gather,
       .index_rule = dynamic_gather_index_rule},
      {.name = "stablehlo.scatter",
       .cls = OpClass::move,
       .operands = {3, -1},
       .results = {1, -1},
       .regions = 1,
       .form = Form::generic,
       .attributes = "scatter_dimension_numbers indices_are_sorted unique_indices",
       .type_rule = scatter_rule,
       .evaluate = eval_scatter,
       .index_rule = scatter_index_rule,
       .edit_piece = edit_scatter_piece,
       .emission = Emission::scatter,
       .call = DeviceCall::scatter},
      {.name = "stablehlo.sort",
       .cls = OpClass::move,
       .operands = {1, -1},
       .results = {1, -1},
       .regions = 1,
       .form = Form::generic,
       .attributes = "dimension is_stable",
       .type_rule = sort_rule,
       .evaluate = eval_sort,
       .index_rule = sort_index_rule,
       .call = DeviceCall::sort,
       .parts = Parts::sort},
      {.name = "stablehlo.torch_index_select",
       .cls = OpClass::move,
       .operands = 2,
       .form = Form::words,
       .words = kTorchWords,
       .type_rule = torch_index_select_rule,
       .evaluate = eval_torch_index_select,
       .index_rule = torch_index_select_index_rule,
       .edit_piece = edit_torch_index_select_piece,
       .parts = Parts::lookup},
  };
}

}  // namespace heddle
