// Cutting a user's text at a sign that may also stand inside of names: params['a,b=c'].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// The first such sign from `from` on that is in no brackets and no quotes; npos where there is
// none. A quote that nothing closes is a letter.
std::size_t find_outside(std::string_view text, char sign, std::size_t from = 0);

// The parts between such signs, without the blanks around them; at least one.
std::vector<std::string> split_outside(std::string_view text, char sign);

}  // namespace heddle
