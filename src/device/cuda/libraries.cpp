#include "device/cuda/libraries.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <ranges>

#include "fmt/format.h"

namespace heddle::cuda {

namespace {

namespace fs = std::filesystem;

// Libraries of a folder whose names begin so, the newest first.
void add_matches(const fs::path& folder, std::string_view name, std::vector<fs::path>& found) {
  std::error_code failed;
  std::vector<fs::path> here;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string file = entry.path().filename().string();
    const bool is_library =
        file.starts_with(std::string(name) + ".") && file.find(".alt.") == file.npos;
    if (is_library) here.push_back(entry.path());
  }
  std::ranges::sort(here, std::greater<>());
  found.insert(found.end(), here.begin(), here.end());
}

struct PackageFolders {
  std::mutex mutex;
  std::vector<fs::path> folders;
};
PackageFolders& package_folders() {
  static auto& known = *new PackageFolders();  // never destroyed
  return known;
}

// The Python packages of NVIDIA put their libraries into nvidia/<package>/lib.
void add_packages(const fs::path& folder, std::string_view name, std::vector<fs::path>& found) {
  std::error_code none;
  for (const auto& package : fs::directory_iterator(folder / "nvidia", none))
    add_matches(package.path() / "lib", name, found);
}

void add_python_packages(const fs::path& environment, std::string_view name,
                         std::vector<fs::path>& found) {
  std::error_code failed;
  for (const auto& python : fs::directory_iterator(environment / "lib", failed))
    add_packages(python.path() / "site-packages", name, found);
}

// Where a name may lie that the system looks up.
std::vector<fs::path> files_of(const fs::path& candidate) {
  if (candidate.is_absolute()) return {candidate};
  std::vector<fs::path> files;
  if (const char* folders = std::getenv("LD_LIBRARY_PATH"))
    for (const auto part : std::views::split(std::string_view(folders), ':'))
      files.push_back(fs::path(std::string_view(part.begin(), part.end())) / candidate);
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                             "/usr/local/lib", "/usr/local/cuda/lib64"})
    files.push_back(fs::path(folder) / candidate);
  return files;
}

}  // namespace

std::vector<fs::path> cuda_library_candidates(std::string_view name,
                                              const std::vector<int>& versions) {
  std::vector<fs::path> found;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable))
      for (const char* sub : {"lib64", "lib"}) add_matches(fs::path(home) / sub, name, found);
  {
    PackageFolders& known = package_folders();
    const std::lock_guard lock(known.mutex);
    for (const fs::path& folder : known.folders) add_packages(folder, name, found);
  }
  if (const char* environment = std::getenv("VIRTUAL_ENV"))
    add_python_packages(environment, name, found);
  for (int version : versions) found.emplace_back(fmt::format("{}.{}", name, version));
  for (const char* sub : {"lib64", "lib"})
    add_matches(fs::path("/usr/local/cuda") / sub, name, found);
  return found;
}

void set_package_folders(std::vector<fs::path> folders) {
  PackageFolders& known = package_folders();
  const std::lock_guard lock(known.mutex);
  known.folders = std::move(folders);
}

const std::vector<KnownLibrary>& known_libraries() {
  using enum CudaLibrary;
  constexpr const char* kCuda = "CUDA 12 or later";
  static const std::vector<KnownLibrary> all = {
      {nvrtc, "NVRTC", "libnvrtc.so", {13, 12}, kCuda, "compiles kernels", "nvidia-cuda-nvrtc"},
      {blas, "cuBLASLt", "libcublasLt.so", {13, 12}, kCuda, "matrix products", "nvidia-cublas"},
      {dnn, "cuDNN", "libcudnn.so", {9}, "cuDNN 9", "convolutions", "nvidia-cudnn-cu13"},
      {fft, "cuFFT", "libcufft.so", {12, 11}, kCuda, "Fourier transforms", "nvidia-cufft"},
      {nccl, "NCCL", "libnccl.so", {2}, "NCCL 2.7", "collectives between GPUs", "nvidia-nccl-cu13"},
  };
  return all;
}

const KnownLibrary& known(CudaLibrary which) {
  return *std::ranges::find(known_libraries(), which, &KnownLibrary::which);
}

std::vector<fs::path> candidates_of(CudaLibrary which) {
  const KnownLibrary& one = known(which);
  return cuda_library_candidates(one.file, one.versions);
}

std::string file_words(CudaLibrary which) {
  for (const fs::path& candidate : candidates_of(which))
    for (const fs::path& file : files_of(candidate)) {
      std::error_code failed;
      const auto size = fs::file_size(file, failed);
      if (failed) continue;
      const auto time = fs::last_write_time(file, failed).time_since_epoch().count();
      return fmt::format("{} {} {}", file.string(), size, time);
    }
  return "";
}

Expected<SharedLibrary> open_library(CudaLibrary which) {
  return SharedLibrary::open(known(which).name, candidates_of(which));
}

}  // namespace heddle::cuda
