// The line of a text that a message is about, with a caret below the place.
#pragma once

#include "frontend/cursor.h"
#include "heddle/error.h"

namespace heddle::frontend {

// "\n  3 | %0 = …\n    |      ^"; long lines are cut around the place. `at` is a place in `text`,
// `line` the number to show.
std::string quoted_line(std::string_view text, std::size_t at, std::size_t line);

// file:line:column: what, then the line. The text's first line has the number `first_line`.
Reason located(std::string_view text, const std::string& file, std::size_t first_line,
               const ParseFailure& failure);

}  // namespace heddle::frontend
