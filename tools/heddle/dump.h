// Files of --dump: the program after every stage, and kernels.
#pragma once

#include <string>
#include <string_view>

#include "heddle/compile.h"

namespace heddle::cli {

// Numbered in the order in which they come to be. Without a folder nothing is written.
class Dump {
 public:
  // Throws where the folder cannot be made.
  explicit Dump(std::string folder);

  void write(std::string_view name, std::string_view ending, const std::string& text);
  // It must live until the program is compiled.
  void watch(CompileOptions& compile);

 private:
  std::string folder_;
  int count_ = 0;
};

}  // namespace heddle::cli
