// What turns LLVM IR into functions: LLVM itself (jit_llvm.cpp), or where it was not found a stub
// that says so (jit_none.cpp).
#pragma once

#include "device/cpu/jit.h"

namespace heddle {

class JitBackend {
 public:
  virtual ~JitBackend() = default;
  virtual const CpuTarget& target() const = 0;
  // An object file. `joins`: of functions that become a part of another one.
  virtual Expected<std::string> compile(const std::string& ir, bool joins) = 0;
  // Its functions phase0, phase1, …
  virtual Expected<CpuKernel> load(const std::string& object, std::size_t phases) = 0;
};

Expected<std::shared_ptr<JitBackend>> make_jit_backend(const CpuJitOptions& options);

}  // namespace heddle
