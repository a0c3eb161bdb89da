#include "ir/lower/narrow_sums.h"

#include "heddle/op.h"
#include "ir/clone.h"
#include "ir/rules/rule_builder.h"

namespace heddle {

Expected<bool> lower_narrow_sums(Rewriter& r, const Op& op) {
  if (op.def->form != Form::reduce || op.result_count != 1) return false;
  const DType type = r.from.type_of(r.from.result(op, 0)).dtype;
  if (type != DType::f16 && type != DType::bf16) return false;
  const auto body = one_op_body(r.from, r.from.regions(op)[0]);
  if (!body || body->op->def->scalar != ScalarOp::add) return false;
  const Type scalar = Type::tensor(DType::f32, {});
  const RegionId wide = r.to.region(
      {scalar, scalar}, [&](const Vars& in) -> Vars { return {r.to.op("add", {in[0], in[1]})}; });
  Vars in;
  for (const Var& v : r.operands(op)) in.push_back(r.to.convert(v, DType::f32));
  const Vars sums = r.to.inferred("reduce", in, copied_attrs(r.from, op), {wide});
  if (sums.empty()) return false;
  r.define_results(op, {r.to.convert(sums[0], type)});
  return true;
}

}  // namespace heddle
