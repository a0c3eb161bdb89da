// Index rules of windows that slide over an operand: what the pieces share are their halos.
#include "ir/attr_access.h"
#include "ir/eval/conv.h"
#include "ir/rules/index_rules.h"

namespace heddle {

using reduction::Conv;
using reduction::WindowAxis;

namespace {

// The operand's index under element `inside` of the window at `place`.
DimRule under_window(const WindowAxis& axis, int place, int inside) {
  return {{{place, axis.stride}, {inside, axis.window_dilation}},
          -axis.pad_low,
          axis.base_dilation,
          true};
}

// Padding as the text writes it: one row of low and high per dimension.
Attr padding_attr(const std::vector<Span>& spans) {
  Array rows(Type::tensor(DType::i64, {static_cast<std::int64_t>(spans.size()), 2}));
  auto numbers = rows.as_mutable<std::int64_t>();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    numbers[2 * i] = spans[i].low;
    numbers[2 * i + 1] = spans[i].high;
  }
  return Attr{std::move(rows)};
}

}  // namespace

// The factors are places and insides in turn, dimension by dimension.
IndexRule reduce_window_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const std::vector<WindowAxis> axes = reduction::window_of(program, op);
  const std::size_t inputs = op.result_count;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const int place = rule.parallel(result_type(program, op, 0).shape[d]);
    const int inside = rule.window(axes[d].window);
    for (std::size_t i = 0; i < inputs; ++i) {
      rule.operand(i, d, under_window(axes[d], place, inside));
      rule.result(i, d, place);
    }
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    rule.operand(i).outside = Outside::scalar;
    rule.operand(i).scalar = static_cast<int>(inputs + i);
    rule.operand(inputs + i).starts_results = true;
  }
  rule.combine(known_reduction(program, program.regions(op)[0]));
  return rule.done();
}

void edit_reduce_window_piece(PieceEdit& edit) {
  Attr::Integers window;
  std::vector<Span> spans;
  for (std::size_t d = 0; d < edit.rule.operands[0].dims.size(); ++d) {
    window.push_back(edit.size(static_cast<int>(2 * d + 1)));
    spans.push_back(touched_span(edit.rule.operands[0].dims[d], edit.ranges));
  }
  edit.set("window_dimensions", Attr{window});
  edit.set("padding", padding_attr(spans));
}

// A result element depends on the windows that reach it: on what they select from, and on what the
// source has for them. `from` is the selected element's place in such a window, `by` any other's.
IndexRule select_and_scatter_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const std::vector<WindowAxis> axes = reduction::window_of(program, op);
  bool selects = false;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const int element = rule.parallel(axes[d].input);
    const int from = rule.whole(axes[d].window), by = rule.whole(axes[d].window);
    rule.operand(0, d, DimRule{{{element}, {from, -1}, {by}}, 0, 1, true});
    rule.operand(1, d, DimRule{{{element}, {from, -1}}, axes[d].pad_low, axes[d].stride, true});
    rule.result(0, d, element);
    selects = selects || axes[d].window > 1;
  }
  rule.operand(0).when = When::inside;
  rule.operand(0).other = 1;
  rule.operand(0).outside = Outside::left_out;
  if (!selects) rule.independent(0, 0);
  return rule.done();
}

namespace {

DimPiece run_of(std::int64_t start, std::int64_t size) { return {start, {{size, 1, size}}, 0, 0}; }

}  // namespace

// A piece has all windows that reach into it, as a whole, and drops what they give to others.
void edit_select_and_scatter_piece(PieceEdit& edit) {
  const std::vector<WindowAxis> axes = reduction::window_of(edit.program, edit.op);
  const Shape& source = operand_type(edit.program, edit.op, 1).shape;
  std::vector<Span> padding;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const WindowAxis& axis = axes[d];
    const FactorRange& range = edit.range(static_cast<int>(3 * d));
    const std::int64_t low = range.begin, high = range.begin + range.size;
    const std::int64_t first =
        std::max<std::int64_t>(ceil_divide(low + axis.pad_low - axis.window + 1, axis.stride), 0);
    const std::int64_t last =
        std::min(floor_divide(high - 1 + axis.pad_low, axis.stride), source[d] - 1);
    const bool any = first <= last && range.size > 0;
    std::int64_t begin = low, end = high;  // of the operand
    Span pads{0, 0, 0, low - high};        // room for no window at all
    if (any) {
      const std::int64_t from = first * axis.stride - axis.pad_low;
      const std::int64_t to = last * axis.stride - axis.pad_low + axis.window;
      begin = std::clamp<std::int64_t>(from, 0, low);
      end = std::clamp(to, high, axis.input);
      pads.low = begin - from;
      pads.high = to - end;
    }
    padding.push_back(pads);
    edit.piece.operands[0].dims[d] = run_of(begin, end - begin);
    edit.piece.operands[1].dims[d] = run_of(first, any ? last - first + 1 : 0);
    DimPiece& result = edit.piece.results[0].dims[d];
    result = run_of(low, range.size);
    result.low_margin = low - begin;
    result.high_margin = end - high;
  }
  edit.set("padding", padding_attr(padding));
}

namespace {

// Factors of a convolution, in this order: groups, batch, input and output features, then places
// and insides in turn.
constexpr int kGroups = 0;

// Groups are part of the dimensions that they divide; there is one kind of groups at most.
DimRule grouped(bool has_groups, int factor, std::int64_t size) {
  return has_groups ? pair(kGroups, factor, size) : just(factor);
}

IndexRule conv_rule(const Program& program, const Op& op, bool splits_places) {
  RuleBuilder rule(program, op);
  const Conv conv = reduction::conv_of(program, op);
  const auto& dims = conv.dims;
  const Shape &lhs = operand_type(program, op, 0).shape, &rhs = operand_type(program, op, 1).shape;
  const std::int64_t groups = std::max(conv.feature_groups, conv.batch_groups);
  const std::int64_t batch = lhs[at(dims.input_batch)] / conv.batch_groups;
  const std::int64_t outputs = rhs[at(dims.kernel_output)] / groups;
  rule.parallel(groups);
  const int b = rule.parallel(batch), i = rule.reduce(rhs[at(dims.kernel_input)]),
            o = rule.parallel(outputs);
  rule.operand(0, at(dims.input_batch), grouped(conv.batch_groups > 1, b, batch));
  rule.operand(0, at(dims.input_feature),
               grouped(conv.feature_groups > 1, i, rhs[at(dims.kernel_input)]));
  rule.operand(1, at(dims.kernel_input), i);
  rule.operand(1, at(dims.kernel_output), grouped(groups > 1, o, outputs));
  rule.result(0, at(dims.output_batch), b);
  rule.result(0, at(dims.output_feature), grouped(groups > 1, o, outputs));
  for (std::size_t s = 0; s < conv.axes.size() && splits_places; ++s) {
    const WindowAxis& axis = conv.axes[s];
    const int place = rule.parallel(result_type(program, op, 0).shape[at(dims.output_spatial[s])]);
    const int inside = rule.window(axis.window);
    rule.operand(0, at(dims.input_spatial[s]), under_window(axis, place, inside));
    rule.operand(1, at(dims.kernel_spatial[s]),
                 conv.reversed[s] ? DimRule{{{inside, -1}}, axis.window - 1, 1} : just(inside));
    rule.result(0, at(dims.output_spatial[s]), place);
  }
  for (std::size_t k = 0; k < 2; ++k) rule.operand(k).outside = Outside::zero;
  rule.combine(ReduceOp::sum);
  return rule.done();
}

}  // namespace

IndexRule convolution_index_rule(const Program& program, const Op& op) {
  return conv_rule(program, op, true);
}

// The padding is data, so that nothing is known of places.
IndexRule dynamic_conv_index_rule(const Program& program, const Op& op) {
  return conv_rule(program, op, false);
}

void edit_convolution_piece(PieceEdit& edit) {
  const Conv conv = reduction::conv_of(edit.program, edit.op);
  const Attr groups{Attr::Integer{edit.size(kGroups), "i64"}};
  if (conv.feature_groups > 1) edit.set("feature_group_count", groups);
  if (conv.batch_groups > 1) edit.set("batch_group_count", groups);
  if (edit.rule.operands.size() > 2) return;
  std::vector<Span> spans;
  for (std::int64_t d : conv.dims.input_spatial)
    spans.push_back(touched_span(edit.rule.operands[0].dims[at(d)], edit.ranges));
  edit.set("padding", padding_attr(spans));
}

}  // namespace heddle
