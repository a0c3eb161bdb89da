#include "heddle/row_parts.h"

#include <algorithm>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle {

std::optional<RowRange> rows_of(const Program& program, const Op& op) {
  if (op.def->rearranges != Rearrange::slice) return std::nullopt;
  const Type& whole = program.type_of(program.operands(op)[0]);
  const Type& part = program.type_of(program.result(op, 0));
  if (whole.rank() == 0) return std::nullopt;
  const auto starts = integers_or(program.attr(op, "start_indices"));
  const auto strides = integers_or(program.attr(op, "strides"));
  for (std::size_t d = 1; d < whole.rank(); ++d)
    if (whole.shape[d] != part.shape[d]) return std::nullopt;
  if (strides[0] != 1) return std::nullopt;
  return RowRange{starts[0], starts[0] + part.shape[0]};
}

namespace {

bool is_in_order(const RowParts& parts, std::int64_t rows) {
  std::int64_t end = 0;
  for (const RowPart& part : parts) {
    if (part.rows.begin != end || part.rows.count() == 0) return false;
    end = part.rows.end;
  }
  return end == rows;
}

}  // namespace

std::vector<RowParts> argument_rows(const Program& program, const Function& function) {
  const Region& body = program.region(function.body);
  std::vector<RowParts> parts(body.args.size());
  std::vector<bool> taken_whole(body.args.size(), false);
  for (OpId id : body.ops) {
    const Op& op = program.op(id);
    const auto look = [&](ValueId v, bool is_operand) {
      const Value& value = program.value(v);
      if (value.op != kNone || value.region != function.body) return;
      const auto rows = is_operand ? rows_of(program, op) : std::nullopt;
      if (rows)
        parts[value.index].push_back({*rows, program.result(op, 0)});
      else
        taken_whole[value.index] = true;
    };
    for (ValueId v : program.operands(op)) look(v, true);
    if (op.region_count > 0)
      for (ValueId v : captured_values(program, op)) look(v, false);
  }
  for (std::size_t a = 0; a < parts.size(); ++a) {
    std::ranges::sort(parts[a], {}, &RowPart::rows);
    const Type& type = program.type_of(body.args[a]);
    const bool is_parted = parts[a].size() > 1 && !taken_whole[a] && type.is_tensor() &&
                           is_in_order(parts[a], type.shape[0]);
    if (!is_parted) parts[a].clear();
  }
  return parts;
}

std::vector<RowParts> result_rows(const Program& program, const Function& function) {
  const Region& body = program.region(function.body);
  const auto returned = program.operands(program.op(body.ops.back()));
  std::vector<int> uses(program.value_count(), 0);
  for (OpId id : body.ops) {
    const Op& op = program.op(id);
    for (ValueId v : program.operands(op)) ++uses[v];
    if (op.region_count > 0)
      for (ValueId v : captured_values(program, op)) ++uses[v];
  }
  std::vector<RowParts> parts(returned.size());
  for (std::size_t r = 0; r < returned.size(); ++r) {
    const OpId maker = program.value(returned[r]).op;
    if (maker == kNone || uses[returned[r]] != 1) continue;
    const Op& op = program.op(maker);
    if (op.def->rearranges != Rearrange::join || op.operand_count < 2) continue;
    if (integer_or(program.attr(op, "dimension"), -1) != 0) continue;
    std::int64_t begin = 0;
    for (ValueId v : program.operands(op)) {
      const std::int64_t rows = program.type_of(v).shape[0];
      parts[r].push_back({{begin, begin + rows}, v});
      begin += rows;
    }
    if (!is_in_order(parts[r], begin)) parts[r].clear();
  }
  return parts;
}

}  // namespace heddle
