// What a compiled program does, step by step, and what each step costs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "execute.h"
#include "terminal.h"

namespace heddle::cli {

// "12 kernels in 8 launches, 4 library calls, 1 op by reference"
std::string step_counts(const Execution& execution);

// --explain: a line per step with its ops, bytes, time and rate, and why it stands alone.
std::string explain_text(const Execution& execution, const Style& style);
nlohmann::ordered_json explain_json(const Execution& execution);

// HEDDLE_LOG=1: one line per kernel.
void log_steps(const Execution& execution);

// What the machine copies with all cores, bytes read and written per second; measured once.
double copy_rate();

}  // namespace heddle::cli
