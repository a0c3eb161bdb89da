#include "spmd/row_groups.h"

#include <map>
#include <numeric>

#include "heddle/op.h"

namespace heddle {

RowGroups::RowGroups(const Program& program, const Function& function, std::int64_t rows)
    : program_(program),
      rows_(rows),
      parent_(program.value_count()),
      in_parts_(program.value_count(), false) {
  std::iota(parent_.begin(), parent_.end(), 0);
  for (OpId id : program.region(function.body).ops) join(program.op(id));
}

void RowGroups::unite(ValueId a, ValueId b) {
  const ValueId from = find(a), to = find(b);
  if (in_parts_[from]) in_parts_[to] = true;
  parent_[from] = to;
}

bool RowGroups::has_rows(const Type& type) const {
  return type.is_tensor() && type.rank() > 0 && type.shape[0] == rows_;
}

int RowGroups::row_factor(const Type& type, const std::vector<DimRule>& dims,
                          const IndexRule& rule) const {
  if (!has_rows(type) || dims.empty()) return -1;
  const DimRule& dim = dims[0];
  if (dim.terms.size() != 1 || dim.offset != 0 || dim.dilation != 1 || dim.slides) return -1;
  const IndexTerm& term = dim.terms[0];
  if (term.stride != 1 || term.divide != 1 || term.modulo != 0) return -1;
  return rule.factors[static_cast<std::size_t>(term.factor)].size == rows_ ? term.factor : -1;
}

ValueId RowGroups::find(ValueId v) {
  while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
  return v;
}

// Values whose rows one factor of the op runs over.
void RowGroups::join(const Op& op) {
  if (op.def->control == Control::loop || op.def->form == Form::terminator) return;
  const auto operands = program_.operands(op);
  bool any = false;
  for (ValueId v : operands) any = any || has_rows(program_.type_of(v));
  for (std::size_t k = 0; k < op.result_count; ++k)
    any = any || has_rows(program_.type_of(program_.result(op, k)));
  if (!any) return;
  const IndexRule rule = index_rule(program_, op);
  std::map<int, ValueId> first;  // by factor
  const auto look = [&](ValueId v, const std::vector<DimRule>& dims) {
    const int factor = row_factor(program_.type_of(v), dims, rule);
    if (factor < 0) return;
    const auto [at, is_new] = first.try_emplace(factor, v);
    if (!is_new) unite(v, at->second);
  };
  for (std::size_t i = 0; i < operands.size(); ++i) look(operands[i], rule.operands[i].dims);
  for (std::size_t k = 0; k < op.result_count; ++k)
    look(program_.result(op, k), rule.results[k].dims);
}

}  // namespace heddle
