// heddle.lapack, cholesky and triangular_solve by OpenBLAS's LAPACK.
#include "device/cpu/calls.h"
#include "ir/lapack/call.h"

namespace heddle::cpu {

namespace {

class LapackCall final : public LibraryCall {
 public:
  explicit LapackCall(lapack::Call call) : call_(std::move(call)) {}

  std::string text() const override { return lapack::text(call_); }

  Verdict run(const CallFrame& frame) const override {
    lapack::run(call_, frame.operands, frame.results, frame.pool);
    return yes();
  }

 private:
  lapack::Call call_;
};

}  // namespace

// Null also where LAPACK was not found: then the reference evaluation does it, or says so.
std::unique_ptr<LibraryCall> lapack_call(const Program& program, const Op& op) {
  std::optional<lapack::Call> call = lapack::call_for(program, op);
  if (!call || !lapack::can_run(*call)) return nullptr;
  return std::make_unique<LapackCall>(*std::move(call));
}

}  // namespace heddle::cpu
