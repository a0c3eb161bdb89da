// What a function takes and gives.
#pragma once

#include <string>
#include <vector>

#include "heddle/program.h"

namespace heddle {

// The types of a function's arguments or results; a tuple counts as its parts.
std::vector<Type> argument_types(const Program& program, const Function& function);
std::vector<Type> result_types(const Program& program, const Function& function);

// "result 3", or what JAX calls it.
std::string result_title(const Function& function, std::size_t index);

// The function that runs: as asked, main, or the only public one; empty where there are several.
std::string entry_of(const Program& program, const std::string& asked = {});

}  // namespace heddle
