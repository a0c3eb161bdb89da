// Many elements to one: reductions, windows, matrix products, convolutions.
#include "ir/eval/reduce.h"

#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"

namespace heddle {

namespace {

constexpr FormWord kEinsumWords[] = {{"config", "einsum_config", FormWord::Kind::text}};

}  // namespace

std::vector<OpDef> reduce_ops() {
  return {
      {.name = "stablehlo.reduce",
       .cls = OpClass::reduce,
       .operands = {2, -1},
       .results = {1, -1},
       .regions = 1,
       .form = Form::reduce,
       .attributes = "dimensions",
       .type_rule = reduce_rule,
       .evaluate = evaluate_reduce,
       .index_rule = reduce_index_rule,
       .emission = Emission::reduce},
      {.name = "stablehlo.reduce_window",
       .cls = OpClass::reduce,
       .operands = {2, -1},
       .results = {1, -1},
       .regions = 1,
       .form = Form::generic,
       .attributes = "window_dimensions window_strides base_dilations window_dilations padding",
       .type_rule = reduce_window_rule,
       .evaluate = evaluate_reduce_window,
       .index_rule = reduce_window_index_rule,
       .edit_piece = edit_reduce_window_piece,
       .emission = Emission::reduce},
      {.name = "stablehlo.select_and_scatter",
       .cls = OpClass::reduce,
       .operands = 3,
       .regions = 2,
       .form = Form::generic,
       .attributes = "window_dimensions window_strides padding",
       .type_rule = select_and_scatter_rule,
       .evaluate = evaluate_select_and_scatter,
       .index_rule = select_and_scatter_index_rule,
       .edit_piece = edit_select_and_scatter_piece},
      {.name = "stablehlo.dot_general",
       .cls = OpClass::contract,
       .operands = 2,
       .form = Form::dot_general,
       .attributes = "dot_dimension_numbers precision_config algorithm",
       .type_rule = dot_general_rule,
       .evaluate = evaluate_dot_general,
       .index_rule = dot_general_index_rule,
       .emission = Emission::contract},
      {.name = "stablehlo.dot",
       .cls = OpClass::contract,
       .operands = 2,
       .form = Form::dot_general,
       .attributes = "precision_config",
       .type_rule = dot_rule,
       .evaluate = evaluate_dot,
       .index_rule = dot_index_rule},
      {.name = "stablehlo.einsum",
       .cls = OpClass::contract,
       .operands = 2,
       .form = Form::words,
       .words = kEinsumWords,
       .type_rule = einsum_rule,
       .evaluate = evaluate_einsum,
       .index_rule = einsum_index_rule},
      {.name = "stablehlo.unary_einsum",
       .cls = OpClass::contract,
       .form = Form::words,
       .words = kEinsumWords,
       .type_rule = einsum_rule,
       .evaluate = evaluate_einsum,
       .index_rule = einsum_index_rule},
      {.name = "stablehlo.convolution",
       .cls = OpClass::contract,
       .operands = 2,
       .form = Form::convolution,
       .attributes = "window_strides padding lhs_dilation rhs_dilation window_reversal "
                     "dimension_numbers feature_group_count batch_group_count precision_config",
       .type_rule = convolution_rule,
       .evaluate = evaluate_convolution,
       .index_rule = convolution_index_rule,
       .edit_piece = edit_convolution_piece},
      {.name = "stablehlo.dynamic_conv",
       .cls = OpClass::contract,
       .operands = 3,
       .form = Form::convolution,
       .attributes = "window_strides padding lhs_dilation rhs_dilation window_reversal "
                     "dimension_numbers feature_group_count batch_group_count precision_config",
       .type_rule = dynamic_conv_rule,
       .evaluate = evaluate_convolution,
       .index_rule = dynamic_conv_index_rule,
       .edit_piece = edit_convolution_piece},
      {.name = "stablehlo.map",
       .cls = OpClass::heavy,
       .operands = {1, -1},
       .regions = 1,
       .form = Form::generic,
       .attributes = "dimensions",
       .type_rule = map_rule,
       .evaluate = evaluate_map,
       .index_rule = elementwise_index_rule},
  };
}

}  // namespace heddle
