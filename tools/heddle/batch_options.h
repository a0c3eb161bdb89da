// What --batch says: which argument takes a new array at every step, and from where.
#pragma once

#include <string>
#include <vector>

#include "heddle/batches.h"
#include "heddle/program.h"

namespace heddle::cli {

// NAME=SOURCE, or SOURCE alone. Throws what is wrong.
Batches open_batch_options(const Program& program, const Function& function,
                           const std::vector<std::string>& options, bool cycle);

}  // namespace heddle::cli
