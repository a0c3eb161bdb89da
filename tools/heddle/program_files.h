// Reading programs for the commands that work on them.
#pragma once

#include <string>
#include <vector>

#include "heddle/program.h"

namespace heddle::cli {

// Reads all programs of a file ("-" is standard input), which has at least one function;
// load_programs verifies them too. Throws what is wrong.
std::vector<Program> read_programs(const std::string& file);
std::vector<Program> load_programs(const std::string& file);

// "f, g, h": the names of functions, the first few.
std::string function_names(const std::vector<Program>& programs);
// That there is no such function, and which there are.
Error no_function(const std::vector<Program>& programs, const std::string& file,
                  const std::string& name);

}  // namespace heddle::cli
