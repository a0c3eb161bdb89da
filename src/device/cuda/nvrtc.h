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

// Machine code for an architecture as in "sm_90". Every operation rounds once; a*b+c is not
// contracted. A reason holds the compiler's log.
Expected<std::vector<char>> compile_cuda(std::string_view source, std::string_view arch);

}  // namespace heddle
