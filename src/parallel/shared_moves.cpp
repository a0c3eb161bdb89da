// Equal reshapes, transposes and slices of one value are one, so that it is brought to where they
// need it once. What spreads a value out is cheaper written anew wherever it is needed.
#include "heddle/op.h"
#include "ir/lower/shared_ops.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

bool is_shared(Rearrange moves) {
  return moves == Rearrange::reshape || moves == Rearrange::transpose || moves == Rearrange::slice;
}

}  // namespace

Expected<Program> with_shared_moves(const Program& program) {
  SharedOps shared(program);
  Rewriter rewriter(program, [&](Rewriter& now, const Op& op) -> Expected<bool> {
    if (!is_shared(op.def->rearranges) || program.layout_of(program.result(op, 0)) != nullptr)
      return false;
    HEDDLE_TRY_VOID(shared.share(now, op));
    return true;
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle
