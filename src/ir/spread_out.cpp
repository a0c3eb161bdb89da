#include "ir/spread_out.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle {

namespace {

bool is_repeated(const Op& op) { return op.def->rearranges == Rearrange::broadcast; }

// What a value is read from where nobody keeps it: what is repeated is read where it is not yet.
std::int64_t bytes_behind(const Program& program, ValueId v) {
  const OpId maker = program.value(v).op;
  if (maker != kNone && is_repeated(program.op(maker))) v = program.operands(program.op(maker))[0];
  const OpId source = program.value(v).op;
  if (source != kNone && program.op(source).def->parts == Parts::constant) return 0;
  return program.type_of(v).bytes();
}

}  // namespace

bool is_spread_out(const Program& program, const Op& op) {
  if (op.result_count != 1 || op.region_count > 0 || op.def->draws) return false;
  const bool cheap =
      op.def->cls == OpClass::light || is_repeated(op) || op.def->rearranges == Rearrange::iota;
  if (!cheap || op.def->parts == Parts::constant) return false;
  const auto is_tensor = [&](ValueId v) { return program.type_of(v).is_tensor(); };
  const auto operands = program.operands(op);
  if (!is_tensor(op.results) || !std::ranges::all_of(operands, is_tensor)) return false;
  std::int64_t read = 0;
  for (ValueId v : operands) read += bytes_behind(program, v);
  return program.type_of(op.results).bytes() > read;
}

}  // namespace heddle
