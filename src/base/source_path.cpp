#include "base/source_path.h"

#include <array>

namespace heddle {

std::string_view source_path(std::string_view file) {
  constexpr std::array<std::string_view, 5> kRoots = {"include/heddle/", "src/", "tools/heddle/",
                                                      "tests/", "bench/"};
  for (std::string_view root : kRoots) {
    if (file.starts_with(root)) return file;
  }
  for (std::string_view root : kRoots) {
    // The last one: the tree itself may lie in a folder called src.
    for (std::size_t at = file.rfind(root); at != file.npos && at > 0;
         at = file.rfind(root, at - 1)) {
      if (file[at - 1] == '/') return file.substr(at);
    }
  }
  return file.substr(file.rfind('/') + 1);
}

}  // namespace heddle
