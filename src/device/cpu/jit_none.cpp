// Stands in for LLVM where the build found none.
#include "device/cpu/jit_backend.h"

namespace heddle {

Expected<std::shared_ptr<JitBackend>> make_jit_backend(const CpuJitOptions&) {
  return reason(
      "kernels cannot be compiled: this Heddle was built without LLVM. Install llvm-19-dev and "
      "configure again with -DHEDDLE_LLVM=ON, or run with --engine interpreter");
}

}  // namespace heddle
