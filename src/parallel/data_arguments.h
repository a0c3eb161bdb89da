// Which arguments of a function are data, as a batch is, and which are its state.
#pragma once

#include <vector>

#include "heddle/program.h"

namespace heddle {

// What a random generator starts from, as JAX has it: two or four words. No batch lies along them.
bool is_random_key(const Type& type);

// Arguments that are data, and no state: those that no result could take the place of, or indices
// where there is no state at all. None where there are no others.
std::vector<std::size_t> data_arguments(const Program& program, const Function& function);

}  // namespace heddle
