// CUDA C++ compiled at run time by NVRTC.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.h"

namespace heddle {

// Whether there is an NVRTC: from the system, $CUDA_HOME, or the Python package nvidia-cuda-nvrtc
// of the environment $VIRTUAL_ENV. Gives its path and version.
Expected<std::string> find_nvrtc();

// What the assembler says of a function.
struct CudaFunction {
  std::string name;
  int registers = 0;      // of a thread
  int shared_bytes = 0;   // of a block, beside what the launch gives it
  int spilled_bytes = 0;  // that a thread stores for want of registers
};
struct CudaObject {
  std::string code;
  std::vector<CudaFunction> functions;
};

// Machine code for an architecture as in "sm_90". Every operation rounds once; a*b+c is not
// contracted. A reason holds the compiler's log.
Expected<CudaObject> compile_cuda(std::string_view source, std::string_view arch);

}  // namespace heddle
