// Answers to a wrong command line.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli {

struct Usage {
  std::string path;  // of the command that was named: "heddle layout show"
  std::vector<std::string> commands = {}, options = {};  // that there are
  std::vector<std::string> words = {};                   // that were given
};

// What was wrong in one line, and where to read on. `text` is what CLI11 says of it; `extra` of
// words that it did not expect.
std::string usage_message(const Usage& usage, std::string text, bool extra);

}  // namespace heddle::cli
