#include "heddle/version.h"

#include <fmt/format.h>

namespace heddle {

std::string_view version() { return HEDDLE_VERSION; }

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string_view build_kind() { return HEDDLE_BUILD_KIND; }

std::string version_line() {
  return fmt::format("heddle {} ({}, {})", version(), compiler(), build_kind());
}

}  // namespace heddle
