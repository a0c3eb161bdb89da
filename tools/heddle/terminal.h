// Careful output: reports to standard output, everything else to standard error.
#pragma once

#include <string>
#include <string_view>

#include "heddle/style.h"
#include "options.h"

namespace heddle::cli {

// Writes all of it; throws Error where standard output is full, closed or gone.
void write_stdout(std::string_view text);

// Whether anything has been written there so far.
bool has_written_stdout();

// Writes what it can: where standard error cannot be written, there is nobody to tell.
void write_stderr(std::string_view text) noexcept;
inline void say(const std::string& line) { write_stderr(line + "\n"); }

// A report of the library as the options want it.
template <typename Report>
void write_report(const Report& report, const ReportOptions& options) {
  write_stdout(options.json ? report.json() : report.text(Style::of_stdout(options.plain)));
}

}  // namespace heddle::cli
