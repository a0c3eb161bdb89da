// What comes with a program to compile: how many devices, which ones, and what is left open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/program.h"

namespace heddle::pjrt {

struct CompileRequest {
  std::int64_t replicas = 1, partitions = 1;
  std::vector<int> devices = {};  // ids, one per replica and partition; empty: the first ones
  std::int64_t count() const { return replicas * partitions; }
};

// From JAX's compile options. A Failure where they cannot be read.
CompileRequest read_compile_options(std::string_view options);

// The text of a program that came as text or as bytecode.
std::string program_text(std::string_view code, std::string_view format);

}  // namespace heddle::pjrt
