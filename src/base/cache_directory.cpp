#include "base/cache_directory.h"

#include <cstdlib>

namespace heddle {

std::optional<std::filesystem::path> cache_directory() {
  const auto variable = [](const char* name) -> std::optional<std::filesystem::path> {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return std::nullopt;
    return text;
  };
  if (std::getenv("HEDDLE_CACHE_DIR") != nullptr) return variable("HEDDLE_CACHE_DIR");
  if (const auto base = variable("XDG_CACHE_HOME")) return *base / "heddle";
  if (const auto home = variable("HOME")) return *home / ".cache" / "heddle";
  return std::nullopt;
}

}  // namespace heddle
