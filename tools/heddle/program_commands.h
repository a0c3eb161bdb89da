// What the commands on programs share: reading them, inputs, comparing and describing results.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "heddle/compare.h"
#include "heddle/inputs.h"
#include "heddle/program.h"
#include "heddle/results.h"
#include "heddle/signature.h"

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

// At most `columns` of a name, whose end says more than its beginning: ...[0]['qkv_b'].
std::string end_of(const std::string& name, std::size_t columns);

// As a report has it.
nlohmann::ordered_json summary_json(const Array& array);

}  // namespace heddle::cli
