// A request that failed, as a report.
#pragma once

#include <string>

namespace heddle {

// The status of a process whose request could not be done.
inline constexpr int kStatusFailed = 1;

// As JSON: "ok": false, "error", "where" if the message begins with a place in a file, "status".
std::string failure_report(const std::string& message, int status = kStatusFailed);

}  // namespace heddle
