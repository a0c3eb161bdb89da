// What the commands on programs share: reading them, inputs, comparing and describing results.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/program.h"
#include "heddle/safetensors.h"

namespace heddle::cli {

// Reads all programs of a file ("-" is standard input) and verifies them; throws what is wrong.
std::vector<Program> read_programs(const std::string& file);
std::vector<Program> load_programs(const std::string& file);

// "1 function", "3 functions"
std::string counted(std::size_t n, std::string_view what);

// ---- program_inputs.cpp

// The types of a function's arguments or results; a tuple counts as its parts.
std::vector<Type> argument_types(const Program& program, const Function& function);
std::vector<Type> result_types(const Program& program, const Function& function);

// Arrays for all arguments from files (x.npy in order, in.0, in.1, … of x.safetensors) and
// random:SEED, which fills what the files leave open.
std::vector<Array> gather_inputs(const Program& program, const Function& function,
                                 const std::vector<std::string>& sources);
// Floats are normal, integers 0 to 7, truth values even; the same on every machine.
Array random_array(const Type& type, std::uint64_t seed);
// The array called `name`, or null.
const Array* find_array(const NamedArrays& arrays, std::string_view name);

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

// "result 3", or what JAX calls it.
std::string result_name(const Function& function, std::size_t index);

struct Summary {
  double least = 0, most = 0, mean = 0;
  std::uint64_t checksum = 0;
  std::string value;  // of a scalar
};
Summary summarize(const Array& array);
nlohmann::ordered_json summary_json(const Array& array);

// out.0.npy, … in a folder, or all in one file where `target` ends in .safetensors.
void write_results(const std::string& target, const std::vector<Array>& results);

}  // namespace heddle::cli
