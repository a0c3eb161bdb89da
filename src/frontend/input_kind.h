// What a text is that does not read as StableHLO, as far as its bytes tell.
#pragma once

#include <string>
#include <string_view>

namespace heddle::frontend {

// What it is and how to get text instead; empty where it may have been meant as StableHLO text.
std::string foreign_input(std::string_view text);

}  // namespace heddle::frontend
