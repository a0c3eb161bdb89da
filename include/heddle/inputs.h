// Arrays for the arguments of a function: from files, written out, or random.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/program.h"
#include "heddle/safetensors.h"

namespace heddle {

// Arrays for all arguments: x.npy and dense<…> in order, in.0, in.1, … of x.safetensors, and
// random:SEED, which fills what these leave open. More than `most_bytes` are not made up. What is
// given `elsewhere` may be missing.
Expected<std::vector<Array>> gather_inputs(const Program& program, const Function& function,
                                           const std::vector<std::string>& sources,
                                           std::int64_t most_bytes = INT64_MAX,
                                           const std::vector<bool>& elsewhere = {});
// What a source may be, for messages.
inline constexpr std::string_view kInputForms =
    "x.npy, x.safetensors with in.0, in.1, ..., dense<[1, 2]> : tensor<2xi32> or random:SEED";

// Floats are normal, integers 0 to 7, truth values even; the same on every machine.
Array random_array(const Type& type, std::uint64_t seed);
// The array called `name`, or null.
const Array* find_array(const NamedArrays& arrays, std::string_view name);

}  // namespace heddle
