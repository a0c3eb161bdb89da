// Messages about a place in a file of the user.
#pragma once

#include <string>

namespace heddle {

// "f.mlir:3:5: …" followed by the line and a caret below the place, where the message has no line
// yet and the file can be read.
std::string with_source_line(const std::string& message);

// "f.mlir:3:5", the first place that the message names; empty where it names none.
std::string place_of(const std::string& message);

}  // namespace heddle
