#include "device/cuda/shared_library.h"

#include <dlfcn.h>

namespace heddle {

Expected<SharedLibrary> SharedLibrary::open(std::string_view what,
                                            const std::vector<std::filesystem::path>& candidates) {
  std::string tried;
  for (const auto& candidate : candidates) {
    if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL))
      return SharedLibrary(handle, candidate.string());
    tried += fmt::format("{}{}", tried.empty() ? "" : ", ", candidate.string());
  }
  return reason("{} was not found; tried {}", what, tried);
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace heddle
