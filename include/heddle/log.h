// Logging on standard error, with one dial: HEDDLE_LOG=0..3.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

#include "heddle/error.h"

namespace heddle {

// What each step of the dial adds. At 0 only warnings are written.
inline constexpr int kLogSteps = 1;    // one line per kernel or plan
inline constexpr int kLogPlans = 2;    // whole plans
inline constexpr int kLogSources = 3;  // generated sources

// The text of HEDDLE_LOG as a level; empty means 0.
Expected<int> parse_log_level(std::string_view text);

// The level in force: HEDDLE_LOG, read once. A bad value gives one warning and counts as 0.
int log_level();
void set_log_level(int level);

// Takes whole messages, each ending in a newline, one at a time.
using LogSink = std::function<void(std::string_view)>;

// Sends messages elsewhere and returns the sink from before; an empty sink is standard error.
LogSink set_log_sink(LogSink sink);

// Writes "heddle: <message>\n" as one piece, whatever the level.
void write_log(std::string_view message);

// Formats only when `level` is switched on.
template <typename... Args>
void log(int level, fmt::format_string<Args...> format, Args&&... args) {
  if (level <= log_level()) write_log(fmt::format(format, std::forward<Args>(args)...));
}

// Something the user should know of though the work goes on. Always written.
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write_log("warning: " + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace heddle
