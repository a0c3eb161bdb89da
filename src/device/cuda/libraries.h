// Where CUDA's libraries are looked for.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "device/cuda/shared_library.h"

namespace heddle::cuda {

// Files of a library ("libnvrtc.so") of these major versions: what $CUDA_HOME names, NVIDIA's
// Python packages of the Python that runs us or of $VIRTUAL_ENV, what the system knows,
// /usr/local/cuda.
std::vector<std::filesystem::path> cuda_library_candidates(std::string_view name,
                                                           const std::vector<int>& versions);

// Folders in which the Python that runs us finds packages: sys.path. Told once, when it loads us.
void set_package_folders(std::vector<std::filesystem::path> folders);

}  // namespace heddle::cuda
