// A run of many steps: results are the next step's arguments, checkpoints are saved and gone on
// from.
#pragma once

#include "run_report.h"

namespace heddle::cli {

void add_step_options(CLI::App& command, StepsRequest& request);
// Options that contradict one another, or would be without effect.
void check_step_options(const RunRequest& request);

// Runs the function for as many steps as asked; what comes out are the last one's results.
Outcome run_steps(const Program& program, const Function& function, const RunRequest& request,
                  const InterpretOptions& options);

}  // namespace heddle::cli
