// The compiler: a program becomes an executable.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/executable.h"
#include "heddle/kernel.h"
#include "heddle/program.h"
#include "heddle/stitch.h"

namespace heddle {

struct CompileOptions {
  std::string entry = "main";
  // False: the same plan, with kernels interpreted. For tests.
  bool machine_code = true;
  StitchOptions stitch = {};
  // Arguments that a run may overwrite, by number.
  std::vector<bool> donated = {};
  // The most bytes that values may take together.
  std::int64_t memory_limit = INT64_MAX;
  // See the program after every stage, and every distinct kernel with its LLVM IR.
  std::function<void(std::string_view stage, const Program&)> on_program = {};
  std::function<void(const Kernel&, const std::string& llvm)> on_kernel = {};
};

// Compiles one function of a verified program. Where something of it can only be interpreted as a
// whole, such as collectives, the executable does that and says why.
Expected<Executable> compile(const Program& program, const CompileOptions& options = {});

}  // namespace heddle
