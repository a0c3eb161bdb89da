// The commands of the tool. A command is one function that adds itself to the command line.
#pragma once

#include <array>
#include <string>

#include "heddle/failure_report.h"
#include "options.h"

namespace heddle::cli {

void add_calibrate(Command app);
void add_compile(Command app);
void add_doctor(Command app);
void add_launch(Command app);
void add_layout(Command app);
void add_ops(Command app);
void add_opt(Command app);
void add_plan(Command app);
void add_run(Command app);
void add_solve(Command app);
void add_verify(Command app);

using AddCommand = void (*)(Command);

// One row per command, in the order of `heddle --help`.
inline constexpr std::array kCommands = {
    AddCommand{add_run},    AddCommand{add_plan},      AddCommand{add_compile},
    AddCommand{add_launch}, AddCommand{add_verify},    AddCommand{add_opt},
    AddCommand{add_ops},    AddCommand{add_layout},    AddCommand{add_solve},
    AddCommand{add_doctor}, AddCommand{add_calibrate},
};

// Ends the command with this exit status, without a message of its own where that is empty: throw
// it.
struct Exit {
  int status;
  std::string message = {};
};

// What a command may end with.
inline constexpr int kExitFailed = kStatusFailed;  // the user's request could not be done
inline constexpr int kExitUsage = 2;               // the command line itself was wrong
inline constexpr int kExitInternal = 70;           // a defect of Heddle

}  // namespace heddle::cli
