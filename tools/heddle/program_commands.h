// What the commands on programs share: reading them, inputs, comparing and describing results.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "heddle/inputs.h"
#include "heddle/program.h"
#include "heddle/signature.h"

namespace heddle::cli {

// Reads all programs of a file ("-" is standard input), which has at least one function;
// load_programs verifies them too. Throws what is wrong.
std::vector<Program> read_programs(const std::string& file);
std::vector<Program> load_programs(const std::string& file);

// ---- program_results.cpp

struct Tolerance {
  std::optional<double> rtol, atol;  // none: by the element type
};

// How far a result lies from what was recorded.
struct Comparison {
  std::int64_t outside = 0, elements = 0;
  double largest = 0;     // difference
  std::string complaint;  // of the worst element; empty where all agree
};
Comparison compare_arrays(const Array& actual, const Array& expected, const Tolerance& tolerance);

struct Summary {
  double least = 0, most = 0, mean = 0;
  std::uint64_t checksum = 0;
  std::string value;  // of a scalar
};
Summary summarize(const Array& array);
nlohmann::ordered_json summary_json(const Array& array);

// out.0.npy, … in a folder, or all in one file where `target` ends in .safetensors. A folder that
// is missing is made, where the folder around it is there. Says what was written.
std::string write_results(const std::string& target, const std::vector<Array>& results);
// Throws what would keep write_results from writing, so that no long run is lost.
void check_output(const std::string& target);

}  // namespace heddle::cli
