// Elements change places by a fixed rule; nothing is computed.
#include "ir/eval/shape.h"

#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

using Kind = FormWord::Kind;
constexpr FormWord kIotaWords[] = {{"dim", "iota_dimension", Kind::integer}};
constexpr FormWord kBroadcastWords[] = {{"sizes", "broadcast_sizes"}};
constexpr FormWord kBroadcastInDimWords[] = {{"dims", "broadcast_dimensions"}};
constexpr FormWord kTransposeWords[] = {{"dims", "permutation"}};
constexpr FormWord kReverseWords[] = {{"dims", "dimensions"}};
constexpr FormWord kConcatenateWords[] = {{"dim", "dimension", Kind::integer}};
constexpr FormWord kPadWords[] = {
    {"low", "edge_padding_low"}, {"high", "edge_padding_high"}, {"interior", "interior_padding"}};
constexpr FormWord kDimensionWords[] = {{"dim", "dimension", Kind::integer}};

// An integer attribute that names a dimension of a tensor of this rank.
Expected<std::size_t> dimension_attr(const Program& program, const Op& op, std::string_view label,
                                     std::string_view name, std::size_t rank) {
  HEDDLE_TRY(std::int64_t dimension, (OpAttrs{program, op}.integer(name)));
  if (dimension < 0 || dimension >= static_cast<std::int64_t>(rank))
    return broken(op, label, "{} = {} is not a dimension of a tensor of rank {}", name, dimension,
                  rank);
  return static_cast<std::size_t>(dimension);
}

Expected<ResultTypes> constant_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Attr* value = program.attr(op, "value");
  const Array* array = value ? value->get<Array>() : nullptr;
  if (!array) return broken(op, "", "value: expected a dense array, got {}", describe(value));
  return typed(array->type(), "C1");
}

Verdict iota_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& result = result_type(program, op);
  if (result.dtype == DType::i1)
    return broken(op, "", "the result must be of numbers, got {}", result.str());
  auto dimension = dimension_attr(program, op, "C1", "iota_dimension", result.rank());
  if (!dimension) return dimension.why();
  return yes();
}

Verdict dynamic_iota_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(iota_rule(program, op));
  return check_integer_vector(op, "C2", "output_shape", operand_type(program, op, 0),
                              result_type(program, op).rank());
}

Verdict reshape_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& result = result_type(program, op);
  HEDDLE_TRY_VOID(check_same_dtype(op, "C1", operand, result));
  if (operand.elements() == result.elements()) return yes();
  return broken(op, "C2", "numbers of elements differ: {} ({}) and {} ({})", operand.elements(),
                operand.str(), result.elements(), result.str());
}

Verdict dynamic_reshape_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(reshape_rule(program, op));
  return check_integer_vector(op, "C3", "output_shape", operand_type(program, op, 1),
                              result_type(program, op).rank());
}

Expected<ResultTypes> broadcast_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  HEDDLE_TRY(Shape expected, (OpAttrs{program, op}.integers("broadcast_sizes")));
  expected.insert(expected.end(), operand.shape.begin(), operand.shape.end());
  return typed(Type::tensor(operand.dtype, std::move(expected)), "", "");
}

Verdict broadcast_in_dim_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& result = result_type(program, op);
  HEDDLE_TRY_VOID(check_same_dtype(op, "C1", operand, result));
  HEDDLE_TRY(Index dims, (OpAttrs{program, op}.integers("broadcast_dimensions")));
  HEDDLE_TRY_VOID(check_count(op, "C2", "broadcast_dimensions", dims.size(), operand.rank()));
  HEDDLE_TRY_VOID(check_axes(op, "C3", "broadcast_dimensions", dims, result.rank()));
  HEDDLE_TRY_VOID(check_unique(op, "C4", "broadcast_dimensions", dims));
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::int64_t size = result.shape[static_cast<std::size_t>(dims[d])];
    if (operand.shape[d] != 1 && operand.shape[d] != size)
      return broken(op, "C5",
                    "dimension {} of the operand {} is neither 1 nor {}, dimension {} of "
                    "the result {}",
                    d, operand.str(), size, dims[d], result.str());
  }
  return yes();
}

Verdict dynamic_broadcast_in_dim_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(broadcast_in_dim_rule(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& result = result_type(program, op);
  HEDDLE_TRY_VOID(check_integer_vector(op, "C6", "output_dimensions", operand_type(program, op, 1),
                                       result.rank()));
  OpAttrs attrs{program, op};
  HEDDLE_TRY(Index known, attrs.integers_or("known_expanding_dimensions", {}));
  HEDDLE_TRY(Index others, attrs.integers_or("known_nonexpanding_dimensions", {}));
  known.insert(known.end(), others.begin(), others.end());
  HEDDLE_TRY_VOID(check_unique(op, "C7", "known (non)expanding dimensions", known));
  return check_axes(op, "C8", "known (non)expanding dimensions", known, operand.rank());
}

Expected<ResultTypes> transpose_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  HEDDLE_TRY(Index permutation, (OpAttrs{program, op}.integers("permutation")));
  HEDDLE_TRY_VOID(check_count(op, "C2", "permutation", permutation.size(), operand.rank()));
  HEDDLE_TRY_VOID(check_axes(op, "C2", "permutation", permutation, operand.rank()));
  HEDDLE_TRY_VOID(check_unique(op, "C2", "permutation", permutation));
  Shape expected;
  for (std::int64_t d : permutation) expected.push_back(operand.shape[static_cast<std::size_t>(d)]);
  return typed(Type::tensor(operand.dtype, std::move(expected)), "C1", "C3");
}

Expected<ResultTypes> reverse_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  HEDDLE_TRY(Index dims, (OpAttrs{program, op}.integers("dimensions")));
  HEDDLE_TRY_VOID(check_unique(op, "C2", "dimensions", dims));
  HEDDLE_TRY_VOID(check_axes(op, "C3", "dimensions", dims, operand.rank()));
  return like_operand(program, op, 0, "C1");
}

Expected<ResultTypes> concatenate_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& first = operand_type(program, op, 0);
  HEDDLE_TRY(std::size_t dim, dimension_attr(program, op, "C4", "dimension", first.rank()));
  Shape expected = first.shape;
  for (std::size_t i = 1; i < op.operand_count; ++i) {
    const Type& other = operand_type(program, op, i);
    HEDDLE_TRY_VOID(check_same_dtype(op, "C1", first, other));
    Shape same = first.shape;
    if (other.rank() == first.rank()) same[dim] = other.shape[dim];
    if (other.shape != same)
      return broken(op, "C2", "shapes differ outside dimension {}: {} and {} (operand {})", dim,
                    first.str(), other.str(), i);
    if (__builtin_add_overflow(expected[dim], other.shape[dim], &expected[dim]))
      return broken(op, "C6", "dimension {} becomes too large", dim);
  }
  return typed(Type::tensor(first.dtype, std::move(expected)), "C5", "C6");
}

// What pad and dynamic_pad have in common.
Verdict padding_types(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& value = operand_type(program, op, 1);
  HEDDLE_TRY_VOID(check_same_dtype(op, "C1", operand_type(program, op, 0), value));
  if (value.rank() == 0) return yes();
  return broken(op, "I2", "the padding value must be a scalar, got {}", value.str());
}

Expected<ResultTypes> pad_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(padding_types(program, op));
  OpAttrs attrs{program, op};
  Padding padding;
  HEDDLE_TRY(padding.low, attrs.integers("edge_padding_low"));
  HEDDLE_TRY(padding.high, attrs.integers("edge_padding_high"));
  HEDDLE_TRY(padding.interior, attrs.integers("interior_padding"));
  const Type& operand = operand_type(program, op, 0);
  HEDDLE_TRY(Shape shape, padded_shape(op, operand.shape, padding));
  return typed(Type::tensor(operand.dtype, std::move(shape)), "C1", "C4");
}

Verdict dynamic_pad_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(padding_types(program, op));
  HEDDLE_TRY_VOID(
      check_same_dtype(op, "C1", operand_type(program, op, 0), result_type(program, op)));
  std::size_t rank = operand_type(program, op, 0).rank();
  static constexpr std::string_view names[] = {"edge_padding_low", "edge_padding_high",
                                               "interior_padding"};
  for (std::size_t i = 0; i < 3; ++i)
    HEDDLE_TRY_VOID(
        check_integer_vector(op, "C2", names[i], operand_type(program, op, i + 2), rank));
  return check_count(op, "C4", "the result's shape", result_type(program, op).rank(), rank);
}

Expected<ResultTypes> slice_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  OpAttrs attrs{program, op};
  SliceBounds bounds;
  HEDDLE_TRY(bounds.start, attrs.integers("start_indices"));
  HEDDLE_TRY(bounds.limit, attrs.integers("limit_indices"));
  HEDDLE_TRY(bounds.strides, attrs.integers_or("strides", Index(bounds.start.size(), 1)));
  HEDDLE_TRY(Shape shape, sliced_shape(op, operand.shape, bounds));
  return typed(Type::tensor(operand.dtype, std::move(shape)), "C1", "C5");
}

Verdict real_dynamic_slice_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  HEDDLE_TRY_VOID(check_same_dtype(op, "C1", operand, result_type(program, op)));
  static constexpr std::string_view names[] = {"start_indices", "limit_indices", "strides"};
  for (std::size_t i = 0; i < 3; ++i)
    HEDDLE_TRY_VOID(
        check_integer_vector(op, "C2", names[i], operand_type(program, op, i + 1), operand.rank()));
  return check_count(op, "C5", "the result's shape", result_type(program, op).rank(),
                     operand.rank());
}

Expected<ResultTypes> get_dimension_size_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  auto dimension =
      dimension_attr(program, op, "C1", "dimension", operand_type(program, op, 0).rank());
  if (!dimension) return dimension.why();
  return typed(Type::tensor(DType::i32, {}), "");
}

Expected<ResultTypes> set_dimension_size_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  auto dimension = dimension_attr(program, op, "C1", "dimension", operand.rank());
  if (!dimension) return dimension.why();
  const Type& size = operand_type(program, op, 1);
  if (!is_integer(size.dtype) || size.rank() != 0)
    return broken(op, "I2", "the size must be an integer scalar, got {}", size.str());
  return like_operand(program, op, 0, "");
}

}  // namespace

std::vector<OpDef> shape_ops() {
  return {
      {.name = "stablehlo.constant",
       .cls = OpClass::move,
       .operands = 0,
       .form = Form::constant,
       .attributes = "value",
       .type_rule = constant_rule,
       .evaluate = eval_constant,
       .index_rule = constant_index_rule,
       .edit_piece = edit_constant_piece,
       .rearranges = Rearrange::constant,
       .parts = Parts::constant},
      {.name = "sdy.constant",
       .cls = OpClass::move,
       .operands = 0,
       .form = Form::constant,
       .attributes = "value",
       .type_rule = constant_rule,
       .evaluate = eval_constant,
       .index_rule = constant_index_rule,
       .edit_piece = edit_constant_piece,
       .rearranges = Rearrange::constant,
       .parts = Parts::constant},
      {.name = "stablehlo.iota",
       .cls = OpClass::move,
       .operands = 0,
       .form = Form::words,
       .words = kIotaWords,
       .type_rule = given<iota_rule>,
       .evaluate = eval_iota,
       .index_rule = constant_index_rule,
       .edit_piece = edit_iota_piece,
       .emission = Emission::iota,
       .rearranges = Rearrange::iota},
      {.name = "stablehlo.dynamic_iota",
       .cls = OpClass::move,
       .form = Form::words,
       .words = kIotaWords,
       .type_rule = given<dynamic_iota_rule>,
       .evaluate = eval_dynamic_iota,
       .index_rule = dynamic_iota_index_rule},
      {.name = "stablehlo.reshape",
       .cls = OpClass::move,
       .form = Form::functional,
       .type_rule = given<reshape_rule>,
       .evaluate = eval_reshape,
       .index_rule = reshape_index_rule,
       .emission = Emission::copy,
       .rearranges = Rearrange::reshape,
       .view = ViewKind::as_large,
       .linear = LinearIn::first},
      {.name = "stablehlo.dynamic_reshape",
       .cls = OpClass::move,
       .operands = 2,
       .form = Form::functional,
       .type_rule = given<dynamic_reshape_rule>,
       .evaluate = eval_dynamic_reshape,
       .index_rule = dynamic_reshape_index_rule},
      {.name = "stablehlo.broadcast",
       .cls = OpClass::move,
       .form = Form::words,
       .words = kBroadcastWords,
       .type_rule = broadcast_rule,
       .evaluate = eval_broadcast,
       .index_rule = broadcast_index_rule,
       .edit_piece = edit_broadcast_piece,
       .emission = Emission::copy},
      {.name = "stablehlo.broadcast_in_dim",
       .cls = OpClass::move,
       .form = Form::words,
       .words = kBroadcastInDimWords,
       .type_rule = given<broadcast_in_dim_rule>,
       .evaluate = eval_broadcast_in_dim,
       .index_rule = broadcast_in_dim_index_rule,
       .emission = Emission::copy,
       .rearranges = Rearrange::broadcast,
       .linear = LinearIn::first},
      {.name = "stablehlo.dynamic_broadcast_in_dim",
       .cls = OpClass::move,
       .operands = 2,
       .form = Form::words,
       .words = kBroadcastInDimWords,
       .attributes = "known_expanding_dimensions known_nonexpanding_dimensions",
       .type_rule = given<dynamic_broadcast_in_dim_rule>,
       .evaluate = eval_dynamic_broadcast_in_dim,
       .index_rule = dynamic_broadcast_index_rule},
      {.name = "stablehlo.transpose",
       .cls = OpClass::move,
       .form = Form::words,
       .words = kTransposeWords,
       .type_rule = transpose_rule,
       .evaluate = eval_transpose,
       .index_rule = transpose_index_rule,
       .emission = Emission::copy,
       .rearranges = Rearrange::transpose,
       .linear = LinearIn::first},
      {.name = "stablehlo.reverse",
       .cls = OpClass::move,
       .form = Form::words_same,
       .words = kReverseWords,
       .type_rule = reverse_rule,
       .evaluate = eval_reverse,
       .index_rule = reverse_index_rule,
       .emission = Emission::copy,
       .linear = LinearIn::first},
      {.name = "stablehlo.concatenate",
       .cls = OpClass::move,
       .operands = {1, -1},
       .form = Form::words,
       .words = kConcatenateWords,
       .type_rule = concatenate_rule,
       .evaluate = eval_concatenate,
       .index_rule = concatenate_index_rule,
       .emission = Emission::join,
       .rearranges = Rearrange::join,
       .parts = Parts::join},
      {.name = "stablehlo.pad",
       .cls = OpClass::move,
       .operands = 2,
       .form = Form::words,
       .words = kPadWords,
       .type_rule = pad_rule,
       .evaluate = eval_pad,
       .index_rule = pad_index_rule,
       .edit_piece = edit_pad_piece,
       .emission = Emission::copy,
       .rearranges = Rearrange::pad},
      {.name = "stablehlo.dynamic_pad",
       .cls = OpClass::move,
       .operands = 5,
       .form = Form::functional,
       .type_rule = given<dynamic_pad_rule>,
       .evaluate = eval_dynamic_pad,
       .index_rule = dynamic_pad_index_rule},
      {.name = "stablehlo.slice",
       .cls = OpClass::move,
       .form = Form::slice,
       .attributes = "start_indices limit_indices strides",
       .type_rule = slice_rule,
       .evaluate = eval_slice,
       .index_rule = slice_index_rule,
       .edit_piece = edit_slice_piece,
       .emission = Emission::copy,
       .rearranges = Rearrange::slice,
       .linear = LinearIn::first,
       .parts = Parts::cut},
      {.name = "stablehlo.real_dynamic_slice",
       .cls = OpClass::move,
       .operands = 4,
       .form = Form::functional,
       .type_rule = given<real_dynamic_slice_rule>,
       .evaluate = eval_real_dynamic_slice,
       .index_rule = real_dynamic_slice_index_rule},
      {.name = "stablehlo.get_dimension_size",
       .cls = OpClass::move,
       .form = Form::words,
       .words = kDimensionWords,
       .type_rule = get_dimension_size_rule,
       .evaluate = eval_get_dimension_size,
       .index_rule = dimension_size_index_rule},
      {.name = "stablehlo.set_dimension_size",
       .cls = OpClass::move,
       .operands = 2,
       .form = Form::words,
       .words = kDimensionWords,
       .type_rule = set_dimension_size_rule,
       .evaluate = eval_set_dimension_size,
       .index_rule = set_dimension_size_index_rule},
  };
}

}  // namespace heddle
