// The commands of the tool. A command is one function that adds itself to the command line.
#pragma once

#include <array>
#include <string>

namespace CLI {
class App;
}

namespace heddle::cli {

void add_calibrate(CLI::App& app);
void add_compile(CLI::App& app);
void add_doctor(CLI::App& app);
void add_launch(CLI::App& app);
void add_layout(CLI::App& app);
void add_ops(CLI::App& app);
void add_opt(CLI::App& app);
void add_plan(CLI::App& app);
void add_run(CLI::App& app);
void add_verify(CLI::App& app);

using AddCommand = void (*)(CLI::App&);

// One row per command, in the order of `heddle --help`.
inline constexpr std::array kCommands = {
    AddCommand{add_run},       AddCommand{add_plan},   AddCommand{add_compile},
    AddCommand{add_launch},    AddCommand{add_verify}, AddCommand{add_opt},
    AddCommand{add_ops},       AddCommand{add_layout}, AddCommand{add_doctor},
    AddCommand{add_calibrate},
};

// Ends the command with this exit status, without a message of its own where that is empty: throw
// it.
struct Exit {
  int status;
  std::string message = {};
};

// What a command may end with.
inline constexpr int kExitFailed = 1;     // the user's request could not be done
inline constexpr int kExitUsage = 2;      // the command line itself was wrong
inline constexpr int kExitInternal = 70;  // a defect of Heddle

}  // namespace heddle::cli
