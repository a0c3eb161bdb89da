// Files of a dump: the program after every stage, and kernels.
#pragma once

#include <string>
#include <string_view>

#include "heddle/compile.h"

namespace heddle {

// Numbered in the order in which they come to be. Without a folder nothing is written.
class Dump {
 public:
  static Expected<Dump> open(std::string folder);

  // It must live until the program is compiled. A file that cannot be written throws.
  void watch(CompileOptions& compile);

 private:
  explicit Dump(std::string folder) : folder_(std::move(folder)) {}
  void write(std::string_view name, std::string_view ending, const std::string& text);

  std::string folder_;
  int count_ = 0;
};

}  // namespace heddle
