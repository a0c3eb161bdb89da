// Text of a user inside a message: what a terminal would obey or cannot show is escaped.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// Control characters and bytes that are no UTF-8 become \x1b and the like. Lines may be kept, for
// messages that have several.
std::string printable(std::string_view text, bool keep_lines = false);

}  // namespace heddle
