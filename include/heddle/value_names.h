// Names of a function's arguments and results, as the text gives them: "params['q']", "result[0]".
#pragma once

#include <cstddef>
#include <string_view>

#include "heddle/program.h"

namespace heddle {

// Attributes that hold them. JAX writes the first as loc("params['q']") today; the reader makes an
// attribute of it, so that passes and the printer keep it.
inline constexpr std::string_view kArgumentName = "jax.arg_info";
inline constexpr std::string_view kResultName = "jax.result_info";

// Empty where the text gives none.
std::string_view argument_name(const Function& function, std::size_t index);
std::string_view result_name(const Function& function, std::size_t index);

}  // namespace heddle
