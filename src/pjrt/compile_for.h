// A program that JAX hands over, compiled for the devices that JAX wants it on.
#pragma once

#include <stop_token>

#include "heddle/executable.h"
#include "pjrt/compile_request.h"

namespace heddle::pjrt {

// Of the program's arguments, those that a run may overwrite.
std::vector<bool> donated_arguments(const Function& main);

// Where one device is asked for, HEDDLE_PLAN may deal the program out over a mesh of ours. `stop`
// ends it with an Error.
Executable compile_for(const Program& program, const Function& main, const CompileRequest& request,
                       Device& device, const std::stop_token& stop);

}  // namespace heddle::pjrt
