#include "device/cuda/found_libraries.h"

#include "device/cuda/libraries.h"

namespace heddle::cuda {

namespace {

// "9.14.0" of 91400.
std::string dotted(std::size_t number) {
  return fmt::format("{}.{}.{}", number / 10'000, number % 10'000 / 100, number % 100);
}

std::string nvrtc_version(const SharedLibrary& library) {
  int (*ask)(int*, int*) = nullptr;
  int major = 0, minor = 0;
  if (!library.find(ask, "nvrtcVersion") || ask(&major, &minor) != 0) return "";
  return fmt::format("{}.{}", major, minor);
}

std::string blas_version(const SharedLibrary& library) {
  std::size_t (*ask)() = nullptr;
  return library.find(ask, "cublasLtGetVersion") ? dotted(ask()) : "";
}

std::string dnn_version(const SharedLibrary& library) {
  std::size_t (*ask)() = nullptr;
  return library.find(ask, "cudnnGetVersion") ? dotted(ask()) : "";
}

std::string nccl_version(const SharedLibrary& library) {
  int (*ask)(int*) = nullptr;
  int number = 0;
  if (!library.find(ask, "ncclGetVersion") || ask(&number) != 0) return "";
  return dotted(static_cast<std::size_t>(number));
}

struct Known {
  const char* name;
  const char* file;
  std::vector<int> versions;
  std::string (*version)(const SharedLibrary&);
  const char* use;
  const char* package;
};

}  // namespace

std::vector<FoundLibrary> find_libraries() {
  const Known known[] = {
      {"NVRTC", "libnvrtc.so", {13, 12}, nvrtc_version, "compiles kernels", "nvidia-cuda-nvrtc"},
      {"cuBLASLt", "libcublasLt.so", {13, 12}, blas_version, "matrix products", "nvidia-cublas"},
      {"cuDNN", "libcudnn.so", {9}, dnn_version, "convolutions", "nvidia-cudnn-cu13"},
      {"NCCL", "libnccl.so", {2}, nccl_version, "collectives between GPUs", "nvidia-nccl-cu13"},
  };
  std::vector<FoundLibrary> all;
  for (const Known& one : known) {
    FoundLibrary& found = all.emplace_back();
    found = {one.name, "", "", one.use, one.package};
    const auto library =
        SharedLibrary::open(one.name, cuda_library_candidates(one.file, one.versions));
    if (!library) continue;
    found.path = library->path();
    found.version = one.version(*library);
  }
  return all;
}

}  // namespace heddle::cuda
