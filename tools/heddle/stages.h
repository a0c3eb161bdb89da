// The stages that a program passes, in order: `--until` names the last one.
#pragma once

#include <string>
#include <vector>

#include "heddle/program.h"

namespace heddle::cli {

// read, inline, lower, simplify
const std::vector<std::string>& stage_names();

// The program after a stage; throws what is wrong.
Program after_stage(Program program, const std::string& last);

}  // namespace heddle::cli
