// Which build of Heddle this is: what it decides may be kept for it alone.
#pragma once

#include <string>

namespace heddle {

// Of the file that this code was loaded from: the number that the linker gave it, else its size and
// when it was written. Empty where neither can be told.
const std::string& build_id();

}  // namespace heddle
