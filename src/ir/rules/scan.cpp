#include "ir/rules/scan.h"

#include <algorithm>

#include "heddle/array.h"
#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "ir/attr_access.h"

namespace heddle {

namespace {

// What makes a value that is one scalar everywhere: past broadcasts of it.
OpId scalar_source(const Program& program, ValueId value) {
  OpId source = program.value(value).op;
  auto repeats = [&](Rearrange move) {
    return move == Rearrange::broadcast || move == Rearrange::reshape;
  };
  while (source != kNone && repeats(program.op(source).def->rearranges))
    source = program.value(program.operands(program.op(source))[0]).op;
  return source;
}

}  // namespace

bool is_neutral(const Program& program, ValueId value, ReduceOp op) {
  const OpId source = scalar_source(program, value);
  if (source == kNone || program.op(source).def->rearranges != Rearrange::constant) return false;
  const Attr* attr = program.attr(program.op(source), "value");
  const Array* known = attr == nullptr ? nullptr : attr->get<Array>();
  if (known == nullptr || known->elements() == 0) return false;
  if (!known->is_splat() && known->elements() != 1) return false;
  const Array neutral = neutral_array(op, Type::tensor(known->dtype(), {}));
  return std::ranges::equal(known->element(0), neutral.element(0));
}

namespace {

bool all_ones(const std::vector<std::int64_t>& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t n) { return n == 1; });
}

// Taking an element twice gives what taking it once does.
bool is_idempotent(ReduceOp op) { return op != ReduceOp::sum && op != ReduceOp::product; }

}  // namespace

bool begins_as_nothing(const Program& program, const Op& op) {
  const auto combine = index_rule(program, op).combine.op;
  return op.operand_count == 2 && combine &&
         (is_idempotent(*combine) || is_neutral(program, program.operands(op)[1], *combine));
}

std::optional<Scan> scan_of(const Program& program, const Op& op) {
  if (op.def->emission != Emission::reduce || op.def->form == Form::reduce ||
      op.result_count != 1 || !begins_as_nothing(program, op))
    return {};
  const OpAttrs attrs{program, op};
  const Shape& shape = program.type_of(program.operands(op)[0]).shape;
  const std::size_t rank = shape.size();
  const auto window = attrs.integers("window_dimensions");
  const auto padding = attrs.padding("padding", rank);
  if (!window || !padding) return {};
  for (std::string_view name : {"window_strides", "base_dilations", "window_dilations"})
    if (auto list = attrs.per_dimension(name, rank, 1); !list || !all_ones(*list)) return {};
  std::optional<Scan> scan;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t low = (*padding)[d][0], high = (*padding)[d][1];
    if ((*window)[d] == 1 && low == 0 && high == 0) continue;
    const std::int64_t rest = shape[d] - 1;
    if (scan || (*window)[d] != shape[d] || low + high != rest || (low != 0 && high != 0))
      return {};
    scan = Scan{d, low == 0};
  }
  return scan;
}

IndexRule scan_rule(const Program& program, const Op& op) {
  IndexRule rule = index_rule(program, op);
  const Shape& shape = program.type_of(program.result(op, 0)).shape;
  rule.factors.clear();
  rule.operands[0].dims.clear();
  rule.results[0].dims.clear();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    rule.factors.push_back({shape[d], FactorKind::parallel});
    const DimRule dim{{{static_cast<int>(d)}}, 0, 1, false};
    rule.operands[0].dims.push_back(dim);
    rule.results[0].dims.push_back(dim);
  }
  return rule;
}

}  // namespace heddle
