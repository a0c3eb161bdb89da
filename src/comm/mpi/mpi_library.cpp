#include "comm/mpi/mpi_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace heddle::comm {

namespace {

namespace fs = std::filesystem;

// Where this code lies: the program, or the module of the Python package.
fs::path own_file() {
  static const char inside = 0;
  Dl_info info = {};
  const bool found = ::dladdr(&inside, &info) != 0 && info.dli_fname != nullptr;
  return found ? fs::path(info.dli_fname) : fs::path();
}

// Beside the program, in the lib folder of where that was installed, beside the Python module or in
// the build folder around it, or where Heddle was installed.
std::vector<fs::path> folders() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path here = program.parent_path();
  const fs::path module = own_file().parent_path();
  return {here,   here.parent_path(),   here.parent_path() / "lib" / "heddle",
          module, module / ".." / "..", HEDDLE_MODULES};
}

std::vector<std::string> kinds() {
  const std::string launcher = mpi_launcher();
  if (launcher == "mpich") return {"mpich", "default", "openmpi"};
  return {"openmpi", "default", "mpich"};
}

std::vector<fs::path> candidates() {
  if (const char* named = std::getenv("HEDDLE_MPI_MODULE"); named != nullptr && *named != 0)
    return {named};
  std::vector<fs::path> files;
  for (const std::string& kind : kinds())
    for (const fs::path& folder : folders())
      files.push_back(folder / ("heddle_mpi_" + kind + ".so"));
  return files;
}

Expected<const HeddleMpi*> load(const fs::path& file) {
  // Parts that MPI itself loads look for its names among the global ones.
  void* module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) return reason("{} cannot be loaded: {}", file.string(), ::dlerror());
  const auto entry = reinterpret_cast<HeddleMpiTable>(::dlsym(module, HEDDLE_MPI_ENTRY));
  const HeddleMpi* table = entry == nullptr ? nullptr : entry();
  if (table == nullptr || table->abi != HEDDLE_MPI_ABI)
    return reason("{} is no module of this version of Heddle", file.string());
  return table;
}

Expected<const HeddleMpi*> find_library() {
  const std::vector<std::string> paths = mpi_module_paths();
  if (paths.empty())
    return reason(
        "there is no MPI: Heddle was built where none was installed; install libopenmpi-dev and "
        "openmpi-bin, or mpich, and build again, or use `heddle launch` on one machine");
  return load(paths[0]);
}

}  // namespace

std::string mpi_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return "openmpi";
  for (const char* name : {"PMI_SIZE", "PMI_RANK", "PMI_FD"})
    if (std::getenv(name) != nullptr) return "mpich";
  return "";
}

std::vector<std::string> mpi_module_paths() {
  std::error_code error;
  std::vector<std::string> found;
  for (const fs::path& file : candidates())
    if (fs::exists(file, error)) found.push_back(file.string());
  return found;
}

Expected<const HeddleMpi*> mpi_library() {
  static const Expected<const HeddleMpi*> library = find_library();
  return library;
}

}  // namespace heddle::comm
