// heddle.lapack: LAPACK itself is the reference.
#include "ir/eval/eval.h"
#include "ir/eval/linalg.h"
#include "ir/lapack/call.h"

namespace heddle {

Verdict lapack_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(lapack::call_of(program, op));
  return yes();
}

Expected<std::vector<Array>> evaluate_lapack(EvalContext& ctx) {
  HEDDLE_TRY(const lapack::Call call, lapack::call_of(ctx.program, ctx.op));
  HEDDLE_TRY_VOID(lapack::can_run(call));
  std::vector<std::byte*> in, out;
  // Operands are only read.
  for (const Array& a : ctx.operands) in.push_back(const_cast<std::byte*>(a.bytes().data()));
  std::vector<Array> results;
  for (std::size_t i = 0; i < ctx.op.result_count; ++i) results.emplace_back(ctx.result_type(i));
  for (Array& a : results) out.push_back(a.mutable_bytes().data());
  lapack::run(call, in, out, ThreadPool::shared());
  return results;
}

}  // namespace heddle
