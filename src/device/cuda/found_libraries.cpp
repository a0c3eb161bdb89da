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

// "11.3.3" of 11303.
std::string fft_version(const SharedLibrary& library) {
  int (*ask)(int*) = nullptr;
  int number = 0;
  if (!library.find(ask, "cufftGetVersion") || ask(&number) != 0) return "";
  return fmt::format("{}.{}.{}", number / 1000, number / 100 % 10, number % 100);
}

std::string version_of(CudaLibrary which, const SharedLibrary& library) {
  switch (which) {
    case CudaLibrary::nvrtc:
      return nvrtc_version(library);
    case CudaLibrary::blas:
      return blas_version(library);
    case CudaLibrary::dnn:
      return dnn_version(library);
    case CudaLibrary::fft:
      return fft_version(library);
    case CudaLibrary::nccl:
      return nccl_version(library);
  }
  return "";
}

}  // namespace

std::vector<FoundLibrary> find_libraries() {
  std::vector<FoundLibrary> all;
  for (const KnownLibrary& one : known_libraries()) {
    FoundLibrary& found = all.emplace_back();
    found = {one.name, "", "", one.use, one.package};
    const auto library = open_library(one.which);
    if (!library) continue;
    found.path = library->path();
    found.version = version_of(one.which, *library);
  }
  return all;
}

}  // namespace heddle::cuda
