#include "parallel/op_parts.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "parallel/scatter_kinds.h"

namespace heddle {

SplitAxes summed_axes(const IndexRule& rule, const FactorAxes& axes) {
  SplitAxes all;
  for (std::size_t f = 0; f < axes.size(); ++f)
    for (const SplitDigit& d : axes[f])
      if (!d.local() && gives_partial(rule.factors[f].kind)) all.push_back(d);
  return all;
}

std::int64_t piece_size(const IndexRule& rule, const FactorAxes& axes, std::size_t factor) {
  const std::int64_t n = total(axes[factor]);
  return (rule.factors[factor].size + n - 1) / n;
}

IndexRule with_whole_windows(const IndexRule& rule, const FactorAxes& axes) {
  IndexRule filled = rule;
  for (std::size_t f = 0; f < axes.size(); ++f) {
    const std::int64_t n = total(axes[f]);
    if (rule.factors[f].kind == FactorKind::window)
      filled.factors[f].size = (rule.factors[f].size + n - 1) / n * n;
  }
  return filled;
}

int joined_factor(const Program& program, const Op& op) {
  if (op.def->parts != Parts::join) return -1;
  return static_cast<int>(program.attr(op, "dimension")->get<Attr::Integer>()->value);
}

Window joined_window(const Program& program, const Op& op, const SplitAxes& axes,
                     std::size_t operand) {
  const auto dim = static_cast<std::size_t>(joined_factor(program, op));
  const auto operands = program.operands(op);
  const std::int64_t size = program.type_of(program.result(op, 0)).shape[dim];
  const std::int64_t block = (size + total(axes) - 1) / total(axes);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < operand; ++i) before += program.type_of(operands[i]).shape[dim];
  return {dim,   axes, program.type_of(operands[operand]).shape[dim], -before, block, block,
          kNone, 1};
}

bool cuts_only(const Program& program, const Op& op, std::size_t dim) {
  if (op.def->parts != Parts::cut) return false;
  const Shape &whole = program.type_of(program.operands(op)[0]).shape,
              &part = program.type_of(program.result(op, 0)).shape;
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (d != dim && whole[d] != part[d]) return false;
  return std::ranges::all_of(integers_or(program.attr(op, "strides")),
                             [](std::int64_t n) { return n == 1; });
}

bool gives_operands(const Op& op) {
  return op.def->view == ViewKind::always && op.def->cls == OpClass::control &&
         op.def->parts == Parts::by_rule && op.operand_count == op.result_count;
}

namespace {

bool is_split(const DimRule& dim, const FactorAxes& axes) {
  return std::ranges::any_of(dim.terms, [&](const IndexTerm& t) {
    return !axes[static_cast<std::size_t>(t.factor)].empty();
  });
}

// The same op, where its attributes do not speak of sizes and its parts are those of its operands.
bool runs_on_parts(const Program& program, const Op& op, const IndexRule& rule,
                   const FactorAxes& axes) {
  if (op.def->edit_piece != nullptr) return false;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    for (std::size_t d = 0; d < rule.operands[i].dims.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      if (is_split(dim, axes) &&
          !is_plain(dim, rule.factors, program.type_of(program.operands(op)[i]).shape[d]))
        return false;
    }
  return true;
}

}  // namespace

PartWay way_of(const Program& program, const Op& op, const IndexRule& rule, const Choice& choice) {
  if (choice.whole) return PartWay::whole;
  if (choice.rows >= 0) return PartWay::rows;
  if (choice.line) {
    if (choice.axes[choice.line->dim].empty()) return PartWay::local;
    return choice.line->kind == Line::Kind::sort ? PartWay::sort_line : PartWay::scan_line;
  }
  if (op.def->parts == Parts::scatter_windows && !scatter_dims(program, op, rule, choice).empty())
    return PartWay::window_scatter;
  if (const int f = joined_factor(program, op);
      f >= 0 && !choice.axes[static_cast<std::size_t>(f)].empty())
    return PartWay::concatenated;
  if (!rule.combine.op && !summed_axes(rule, choice.axes).empty()) return PartWay::reduced_again;
  return runs_on_parts(program, op, rule, choice.axes) ? PartWay::local : PartWay::piece;
}

std::string text_of(const FactorAxes& axes, const Mesh& mesh) {
  std::string text;
  for (std::size_t f = 0; f < axes.size(); ++f)
    if (!axes[f].empty())
      text += fmt::format("{}{} over {}", text.empty() ? "" : ", ",
                          factor_name(static_cast<int>(f)), axes_text(axes[f], mesh));
  return text.empty() ? "nothing" : text;
}

std::string_view name(PartWay way) {
  static constexpr std::string_view names[] = {
      "nothing",        "whole",   "local",  "piece", "rows",          "reduced again",
      "concatenated",   "joined",  "scan",   "sort",  "first of sort", "top of parts",
      "window scatter", "reshard", "manual", "loop",  "branch"};
  return names[static_cast<int>(way)];
}

}  // namespace heddle
