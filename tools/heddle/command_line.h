// The command that is being run, as a user would type it again.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli {

void keep_command_line(int argc, char** argv);

// Whether the words ask for a report in JSON, so that an error has to be one too: known also where
// they could not be understood.
bool asks_for_json();

// The words after the program's name as the parser is to see them. What `heddle launch` starts
// stands behind --, which a user may leave out; `launch -n 4 run ...` is short for
// `launch -n 4 -- heddle run ...`, for each of `commands`.
std::vector<std::string> words_to_parse(const std::vector<std::string>& commands);

// The same command with --restore CHECKPOINT instead of what it says of that.
std::string command_to_restore(const std::string& checkpoint);

}  // namespace heddle::cli
