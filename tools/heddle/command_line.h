// The command that is being run, as a user would type it again.
#pragma once

#include <string>

namespace heddle::cli {

void keep_command_line(int argc, char** argv);

// The same command with --restore CHECKPOINT instead of what it says of that.
std::string command_to_restore(const std::string& checkpoint);

}  // namespace heddle::cli
