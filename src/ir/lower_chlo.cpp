#include "heddle/lower.h"
#include "ir/rewrite.h"

namespace heddle {

Expected<Program> lower_chlo(const Program& program) {
  Rewriter rewriter(program, [](Rewriter&, const Op&) -> Expected<bool> { return false; });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle
