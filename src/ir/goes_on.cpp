#include "ir/goes_on.h"

#include "heddle/op.h"

namespace heddle {

bool goes_on_at_once(const Program& program, const Op& op) {
  if (op.result_count != 1 || op.operand_count == 0) return false;
  const OpClass cls = op.def->cls;
  if (cls == OpClass::light || cls == OpClass::heavy || cls == OpClass::move)
    return op.region_count == 0;
  const Type &from = program.type_of(program.operands(op)[0]),
             &to = program.type_of(program.result(op, 0));
  return cls == OpClass::reduce && from.is_tensor() && from.elements() == to.elements();
}

}  // namespace heddle
