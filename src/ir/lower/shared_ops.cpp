#include "ir/lower/shared_ops.h"

#include "heddle/hash.h"
#include "heddle/op.h"
#include "ir/lower/simplify.h"
#include "ir/rules/rule_builder.h"

namespace heddle {

SharedOps::SharedOps(const Program& from)
    : home_(from.op_count(), kNone), parent_(from.region_count(), kNone) {
  for (const Function& f : from.functions)
    if (f.body != kNone) walk(from, f.body);
}

std::optional<SharedOps::Step> SharedOps::step_of(const Program& program, RegionId region) {
  const auto known = known_reduction(program, region);
  if (!known) return std::nullopt;
  const Region& body = program.region(region);
  const bool is_turned = program.operands(program.op(body.ops[0]))[0] != body.args[0];
  return Step{*known, is_turned, program.type_of(body.args[0])};
}

std::vector<SharedOps::Step> SharedOps::steps_of(const Program& program, const Op& op) {
  std::vector<Step> steps;
  for (RegionId region : program.regions(op))
    if (const auto step = step_of(program, region)) steps.push_back(*step);
  return steps;
}

bool SharedOps::can_be_shared(const Program& program, const Op& op) {
  return op.result_count > 0 && is_pure(program, op) &&
         steps_of(program, op).size() == op.region_count;
}

Expected<bool> SharedOps::share(Rewriter& rewriter, const Op& op) {
  Program& out = rewriter.to.program;
  const RegionId here = home_[rewriter.from.value(op.results).op];
  const AttrDict& attrs = rewriter.from.attrs_of(op);
  Looks looks{.def = op.def,
              .operands = {},
              .attrs = attrs,
              .results = {},
              .steps = steps_of(rewriter.from, op)};
  for (const Var& v : rewriter.operands(op)) looks.operands.push_back(v.id());
  for (std::size_t i = 0; i < op.result_count; ++i)
    looks.results.push_back(rewriter.from.type_of(rewriter.from.result(op, i)));
  const std::uint64_t hash = key(looks);
  if (const Op* other = find(out, looks, hash, here)) {
    Vars values;
    for (std::size_t i = 0; i < op.result_count; ++i)
      values.emplace_back(rewriter.to, out.result(*other, i));
    rewriter.define_results(op, values);
    return true;
  }
  HEDDLE_TRY_VOID(rewriter.copy_op(op));
  ops_.emplace(hash, std::pair(here, out.value(rewriter.value(op.results).id()).op));
  return false;
}

void SharedOps::walk(const Program& from, RegionId region) {
  for (OpId id : from.region(region).ops) {
    home_[id] = region;
    for (RegionId inner : from.regions(from.op(id))) {
      parent_[inner] = region;
      walk(from, inner);
    }
  }
}

bool SharedOps::is_inside(RegionId inner, RegionId outer) const {
  while (inner != kNone && inner != outer) inner = parent_[inner];
  return inner == outer;
}

const Op* SharedOps::find(const Program& program, const Looks& looks, std::uint64_t key,
                          RegionId here) const {
  auto [first, last] = ops_.equal_range(key);
  for (; first != last; ++first) {
    const auto& [region, id] = first->second;
    if (is_inside(here, region) && same(program, program.op(id), looks)) return &program.op(id);
  }
  return nullptr;
}

bool SharedOps::same(const Program& program, const Op& op, const Looks& looks) {
  const auto operands = program.operands(op);
  if (op.def != looks.def || op.result_count != looks.results.size() ||
      !std::equal(looks.operands.begin(), looks.operands.end(), operands.begin(), operands.end()) ||
      !(program.attrs_of(op) == looks.attrs) || steps_of(program, op) != looks.steps)
    return false;
  for (std::size_t i = 0; i < looks.results.size(); ++i)
    if (!(program.type_of(program.result(op, i)) == looks.results[i])) return false;
  return true;
}

std::uint64_t SharedOps::key(const Looks& looks) {
  std::uint64_t hash = hash_combine(looks.attrs.size(), looks.def->name);
  for (ValueId v : looks.operands) hash = hash_combine(hash, v);
  for (const Type& type : looks.results) hash = hash_combine(hash, type.hash());
  for (const NamedAttr& attr : looks.attrs)
    if (const auto* array = attr.value.get<Array>(); array && array->elements() > 0)
      for (std::int64_t at : {std::int64_t{0}, array->elements() / 2, array->elements() - 1})
        for (std::byte b : array->element(at))
          hash = hash_combine(hash, static_cast<std::uint64_t>(b));
  return hash;
}

}  // namespace heddle
