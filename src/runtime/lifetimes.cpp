#include "runtime/lifetimes.h"

#include "heddle/index_rule.h"
#include "heddle/op.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kNever = SIZE_MAX;

const Op& terminator(const Program& program, RegionId region) {
  return program.op(program.region(region).ops.back());
}

}  // namespace

bool is_invariant(const Program& program, const Op& loop, std::size_t i) {
  const RegionId body = program.regions(loop)[1];
  return program.operands(terminator(program, body))[i] == program.region(body).args[i];
}

Lifetimes::Lifetimes(const CompiledProgram& compiled)
    : compiled_(compiled),
      program_(compiled.program),
      alias_(program_.value_count(), kNone),
      home_(program_.value_count(), kNone),
      last_(program_.value_count(), 0) {
  walk(compiled.entry().body);
}

ValueId Lifetimes::root(ValueId v) const {
  while (alias_[v] != kNone) v = alias_[v];
  return v;
}

bool Lifetimes::dies_at(ValueId v, RegionId region, std::size_t unit) const {
  const ValueId r = root(v);
  return home_[r] == region && last_[r] <= unit;
}

std::vector<ValueId> Lifetimes::reads(const CompiledUnit& unit) const {
  std::vector<ValueId> all;
  for (const CompiledKernel& kernel : unit.kernels)
    all.insert(all.end(), kernel.group.inputs.begin(), kernel.group.inputs.end());
  if (unit.op == kNone) return all;
  const Op& op = program_.op(unit.op);
  const auto operands = program_.operands(op);
  if (unit.views) {
    all = {unit.views->lhs.value, unit.views->rhs.value};
    all.insert(all.end(), operands.begin() + 2, operands.end());
    return all;
  }
  all.insert(all.end(), operands.begin(), operands.end());
  if (op.region_count > 0)
    for (ValueId v : captured_values(program_, op)) all.push_back(v);
  return all;
}

void Lifetimes::note_use(ValueId v, RegionId region, std::size_t unit) {
  const ValueId r = root(v);
  if (home_[r] == region) last_[r] = std::max(last_[r], unit);
}

void Lifetimes::walk(RegionId region) {
  for (ValueId arg : program_.region(region).args) home_[arg] = region;
  for (OpId id : program_.region(region).ops) {
    const Op& op = program_.op(id);
    for (std::size_t i = 0; i < op.result_count; ++i) home_[program_.result(op, i)] = region;
  }
  const auto& units = compiled_.regions.at(region);
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (ValueId v : reads(units[u])) note_use(v, region, u);
    if (units[u].op != kNone) walk_unit(units[u]);
  }
  for (ValueId v : program_.operands(terminator(program_, region))) note_use(v, region, kNever);
}

void Lifetimes::walk_unit(const CompiledUnit& unit) {
  const Op& op = program_.op(unit.op);
  const auto operands = program_.operands(op);
  if (is_view(program_, op))
    for (std::size_t i = 0; i < op.result_count; ++i) alias_[program_.result(op, i)] = operands[i];
  const auto regions = program_.regions(op);
  if (op.def->control == Control::loop)
    for (std::size_t i = 0; i < op.operand_count; ++i) {
      if (!is_invariant(program_, op, i)) continue;
      alias_[program_.result(op, i)] = operands[i];
      for (RegionId r : regions) alias_[program_.region(r).args[i]] = operands[i];
    }
  for (RegionId r : regions)
    if (compiled_.regions.contains(r)) walk(r);
}

}  // namespace heddle::runtime
