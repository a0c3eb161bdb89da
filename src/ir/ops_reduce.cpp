// Many elements to one: reductions, windows, matrix products, convolutions.
#include "ir/eval_reduce.h"
#include "ir/index_rules.h"
#include "ir/op_families.h"

namespace heddle {

namespace {

constexpr FormWord kEinsumWords[] = {{"config", "einsum_config", FormWord::Kind::text}};

}  // namespace

std::vector<OpDef> reduce_ops() {
  std::vector<OpDef> rows;
  auto row = [&](std::string_view name, OpClass cls, Count operands, Count results, int regions,
                 Form form, TypeRule rule, Evaluate evaluate, std::span<const FormWord> words = {},
                 IndexRuleOf index_rule = nullptr, EditPiece edit_piece = nullptr) {
    OpDef def;
    def.name = name;
    def.cls = cls;
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
  row("stablehlo.reduce", OpClass::reduce, {2, -1}, {1, -1}, 1, Form::reduce, reduce_rule,
      evaluate_reduce, {}, reduce_index_rule);
  row("stablehlo.reduce_window", OpClass::reduce, {2, -1}, {1, -1}, 1, Form::generic,
      reduce_window_rule, evaluate_reduce_window, {}, reduce_window_index_rule,
      edit_reduce_window_piece);
  row("stablehlo.select_and_scatter", OpClass::reduce, 3, 1, 2, Form::generic,
      select_and_scatter_rule, evaluate_select_and_scatter, {}, select_and_scatter_index_rule,
      edit_select_and_scatter_piece);
  row("stablehlo.dot_general", OpClass::contract, 2, 1, 0, Form::dot_general, dot_general_rule,
      evaluate_dot_general, {}, dot_general_index_rule);
  row("stablehlo.dot", OpClass::contract, 2, 1, 0, Form::dot_general, dot_rule, evaluate_dot, {},
      dot_index_rule);
  row("stablehlo.einsum", OpClass::contract, 2, 1, 0, Form::words, einsum_rule, evaluate_einsum,
      kEinsumWords, einsum_index_rule);
  row("stablehlo.unary_einsum", OpClass::contract, 1, 1, 0, Form::words, einsum_rule,
      evaluate_einsum, kEinsumWords, einsum_index_rule);
  row("stablehlo.convolution", OpClass::contract, 2, 1, 0, Form::convolution, convolution_rule,
      evaluate_convolution, {}, convolution_index_rule, edit_convolution_piece);
  row("stablehlo.dynamic_conv", OpClass::contract, 3, 1, 0, Form::convolution, dynamic_conv_rule,
      evaluate_convolution, {}, dynamic_conv_index_rule, edit_convolution_piece);
  row("stablehlo.map", OpClass::heavy, {1, -1}, 1, 1, Form::generic, map_rule, evaluate_map, {},
      elementwise_index_rule);
  return rows;
}

}  // namespace heddle
