// Names of a function's arguments and results, as the text gives them: "params['q']", "result[0]".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/program.h"

namespace heddle {

// Attributes that hold them. JAX writes the first as loc("params['q']") today; the reader makes an
// attribute of it, so that passes and the printer keep it.
inline constexpr std::string_view kArgumentName = "jax.arg_info";
inline constexpr std::string_view kResultName = "jax.result_info";

// Empty where the text gives none.
std::string_view argument_name(const Function& function, std::size_t index);
std::string_view result_name(const Function& function, std::size_t index);

// The groups that a name lies in, the largest first: params and params['a'] of params['a'].w.
std::vector<std::string> groups_around(std::string_view name);
bool lies_in(std::string_view name, std::string_view group);

// Names and all groups of theirs: what a misspelt word may have been meant for.
std::vector<std::string> with_groups(const std::vector<std::string>& names);

}  // namespace heddle
