#include "stitch/scan.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle {

namespace {

bool all_ones(const std::vector<std::int64_t>& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t n) { return n == 1; });
}

}  // namespace

std::optional<Scan> scan_of(const Program& program, const Op& op) {
  if (op.def->emission != Emission::reduce || op.def->form == Form::reduce ||
      op.result_count != 1 || !index_rule(program, op).combine.op)
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
