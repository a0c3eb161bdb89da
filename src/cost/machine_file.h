// Figures in files of the cache directory, each of one machine.
#pragma once

#include <string>

#include "base/json.h"
#include "heddle/error.h"

namespace heddle {

// What the file holds; null where it is not there, torn, or of another machine.
Json kept_json(const std::string& name, const std::string& machine);
// A number above 0, or 0.
double kept_number(const Json& json, const char* key);
// A reason where there is no cache directory, or no room in it.
Verdict keep_json(const std::string& name, const Json& json);

}  // namespace heddle
