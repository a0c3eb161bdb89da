#include "ir/lower/one_update.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/rules/index_dims.h"
#include "ir/rules/rule_builder.h"

namespace heddle {

namespace {

// Whether it is written anew in any case.
bool starts_the_same(const Program& program, ValueId value) {
  const OpId maker = program.value(value).op;
  if (maker == kNone) return false;
  const OpDef& def = *program.op(maker).def;
  return def.parts == heddle::Parts::constant || def.rearranges == Rearrange::broadcast;
}

// All dimensions but one are those of rows, in the same order in indices and updates.
bool has_rows(const IndexDims& dims, std::size_t rank) {
  if (dims.batching.size() + 1 != rank || !dims.window.empty() || dims.map.size() != 1)
    return false;
  for (std::size_t i = 0; i < dims.batching.size(); ++i)
    if (dims.indices_batching[i] != static_cast<std::int64_t>(i)) return false;
  return std::ranges::is_sorted(dims.batching);
}

}  // namespace

Expected<bool> lower_one_update(Rewriter& r, const Op& op) {
  if (op.def->emission != Emission::scatter || op.operand_count != 3) return false;
  const auto operands = r.from.operands(op);
  const Type &type = r.from.type_of(operands[0]), &updates = r.from.type_of(operands[2]);
  const Type& indices = r.from.type_of(operands[1]);
  HEDDLE_TRY(const IndexDims dims, scatter_dims(r.from, op));
  const auto body = one_op_body(r.from, r.from.regions(op)[0]);
  if (!body || body->op->def->scalar != ScalarOp::add || !has_rows(dims, type.rank()) ||
      !starts_the_same(r.from, operands[0]))
    return false;
  Shape rows;
  for (std::int64_t d : dims.batching) rows.push_back(type.shape[static_cast<std::size_t>(d)]);
  const std::int64_t count = Type::tensor(type.dtype, rows).elements();
  if (updates.elements() != count || indices.elements() != count) return false;
  const Vars in = r.operands(op);
  const auto spread = [&](Var v) {
    return r.to.broadcast(r.to.reshape(v, rows), type.shape, dims.batching);
  };
  // An index that points nowhere is that of no position, even where its type is short.
  const Var wanted = r.to.convert(spread(in[1]), DType::i64);
  const Var here = r.to.iota(Type::tensor(DType::i64, type.shape), dims.map[0]);
  const Var sum = r.to.op("add", {in[0], spread(in[2])});
  r.define_results(op, {r.to.select(r.to.compare("EQ", here, wanted), sum, in[0])});
  return true;
}

}  // namespace heddle
