// Elements change places by indices that are themselves data.
#include "ir/eval_index.h"
#include "ir/index_rules.h"
#include "ir/op_families.h"
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

Verdict dynamic_slice_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  HEDDLE_TRY_VOID(check_same_dtype(op, "C1", operand, result_type(program, op)));
  HEDDLE_TRY_VOID(check_starts(program, op, 1, operand.rank(), "C2", "C3"));
  HEDDLE_TRY(Shape sizes, (OpAttrs{program, op}.integers("slice_sizes")));
  HEDDLE_TRY_VOID(check_count(op, "C2", "slice_sizes", sizes.size(), operand.rank()));
  HEDDLE_TRY_VOID(check_within(op, "C4", sizes, operand));
  return check_shape(op, "C5", sizes, result_type(program, op));
}

Verdict dynamic_update_slice_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& update = operand_type(program, op, 1);
  HEDDLE_TRY_VOID(check_same_dtype(op, "C1", operand, result_type(program, op)));
  HEDDLE_TRY_VOID(check_shape(op, "C1", operand.shape, result_type(program, op)));
  HEDDLE_TRY_VOID(check_same_dtype(op, "C2", update, operand));
  HEDDLE_TRY_VOID(check_count(op, "C3", "the update's shape", update.rank(), operand.rank()));
  HEDDLE_TRY_VOID(check_starts(program, op, 2, operand.rank(), "C4", "C5"));
  return check_within(op, "C6", update.shape, operand);
}

Verdict torch_index_select_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& index = operand_type(program, op, 1);
  HEDDLE_TRY_VOID(check_same_dtype(op, "", operand, result_type(program, op)));
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
  return check_shape(op, "", expected, result_type(program, op));
}

}  // namespace

std::vector<OpDef> index_ops() {
  std::vector<OpDef> rows;
  auto row = [&](std::string_view name, Count operands, Count results, int regions, Form form,
                 std::span<const FormWord> words, TypeRule rule, Evaluate evaluate,
                 IndexRuleOf index_rule, EditPiece edit_piece = nullptr) {
    OpDef def;
    def.name = name;
    def.cls = OpClass::move;
    def.operands = operands;
    def.results = results;
    def.regions = regions;
    def.form = form;
    def.words = words;
    def.type_rule = rule;
    def.evaluate = evaluate;
    def.index_rule = index_rule;
    def.edit_piece = edit_piece;
    rows.push_back(def);
  };
  row("stablehlo.dynamic_slice", {1, -1}, 1, 0, Form::words, kSizesWords, dynamic_slice_rule,
      eval_dynamic_slice, dynamic_slice_index_rule, edit_dynamic_slice_piece);
  row("stablehlo.dynamic_update_slice", {2, -1}, 1, 0, Form::functional, {},
      dynamic_update_slice_rule, eval_dynamic_update_slice, dynamic_update_slice_index_rule,
      edit_dynamic_update_slice_piece);
  row("stablehlo.gather", 2, 1, 0, Form::generic, {}, gather_rule, eval_gather, gather_index_rule,
      edit_gather_piece);
  row("stablehlo.dynamic_gather", 3, 1, 0, Form::generic, {}, dynamic_gather_rule,
      eval_dynamic_gather, dynamic_gather_index_rule);
  row("stablehlo.scatter", {3, -1}, {1, -1}, 1, Form::generic, {}, scatter_rule, eval_scatter,
      scatter_index_rule, edit_scatter_piece);
  row("stablehlo.sort", {1, -1}, {1, -1}, 1, Form::generic, {}, sort_rule, eval_sort,
      sort_index_rule);
  row("stablehlo.torch_index_select", 2, 1, 0, Form::words, kTorchWords, torch_index_select_rule,
      eval_torch_index_select, torch_index_select_index_rule, edit_torch_index_select_piece);
  return rows;
}

}  // namespace heddle
