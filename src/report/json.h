// What reports in JSON share.
#pragma once

#include <string>

#include "base/json.h"
#include "heddle/execute.h"

namespace heddle::report {

using heddle::Json;

// Indented, ending in a newline.
std::string json_text(const Json& report);

// JSON has no infinities and no NaN: they are written as text.
Json json_number(double value);

// What a report says of a failure: "error"; "where", the place in a file that the message begins
// with, if it does; "status", with which the process ends.
Json failure_json(const std::string& message, int status);

Json execution_json(const Execution& execution);

}  // namespace heddle::report
