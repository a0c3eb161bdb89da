// CUDA's libraries: where they are looked for, and what is used of them.
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

enum class CudaLibrary { nvrtc, blas, dnn, fft, nccl };

struct KnownLibrary {
  CudaLibrary which;
  const char* name;           // NVRTC
  const char* file;           // libnvrtc.so
  std::vector<int> versions;  // in the names of its files, the newest first
  const char* needed;         // what has the functions: "CUDA 12 or later"
  const char* use;            // what it is for
  const char* package;        // that brings it: nvidia-cuda-nvrtc
};
const std::vector<KnownLibrary>& known_libraries();
const KnownLibrary& known(CudaLibrary which);

std::vector<std::filesystem::path> candidates_of(CudaLibrary which);
Expected<SharedLibrary> open_library(CudaLibrary which);
// The file that would be opened, with its size and its time, in words, without opening it: what is
// known of it lasts as long as these. Empty where none is where such files usually are.
std::string file_words(CudaLibrary which);

// The functions of a library that are used, a struct of pointers with its `path`; looked up once
// in a process. `find` names them.
template <typename Functions>
Expected<const Functions*> functions_of(CudaLibrary which,
                                        void (*find)(FunctionLookup& find, Functions& functions)) {
  static const Expected<Functions> loaded = [&]() -> Expected<Functions> {
    HEDDLE_TRY(const SharedLibrary library, open_library(which));
    Functions functions;
    FunctionLookup lookup(library);
    find(lookup, functions);
    functions.path = library.path();
    if (!lookup.found_all())
      return reason("{} is too old: {} is needed, or the Python package {}", library.path(),
                    known(which).needed, known(which).package);
    return functions;
  }();
  if (!loaded) return loaded.why();
  return &*loaded;
}

}  // namespace heddle::cuda
