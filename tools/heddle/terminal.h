// What commands share when they write: style, figures that people read, JSON, and careful output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/text.h"

namespace CLI {
class App;
}

namespace heddle::cli {

// The options of every command that reports.
struct ReportOptions {
  bool json = false;
  bool plain = false;
};
void add_report_options(CLI::App& command, ReportOptions& options);

// How to write on standard output: colour and Unicode only on a terminal that wants them.
class Style {
 public:
  Style(bool colour, bool unicode, int columns)
      : colour_(colour), unicode_(unicode), columns_(columns) {}

  // Looks at standard output, NO_COLOR, TERM and the locale; `plain` switches all of it off.
  static Style of_stdout(bool plain);
  static Style plain() { return {false, false, kMaxColumns}; }

  bool colour() const { return colour_; }
  bool unicode() const { return unicode_; }
  int columns() const { return columns_; }

  std::string bold(std::string_view text) const;
  std::string dim(std::string_view text) const;
  std::string red(std::string_view text) const;
  std::string green(std::string_view text) const;
  std::string yellow(std::string_view text) const;
  // Colour 0..255 of the usual terminal palette, as background.
  std::string on_colour(int colour, std::string_view text) const;
  // The first where Unicode may be written, the second elsewhere.
  std::string_view either(std::string_view unicode, std::string_view ascii) const;

  static constexpr int kMaxColumns = 100;

 private:
  std::string wrapped(std::string_view code, std::string_view text) const;
  bool colour_, unicode_;
  int columns_;
};

// For CLI11: empty where the text is a size, else what is wrong.
std::string wrong_size(const std::string& text);
// The same for a name, which may not be empty.
std::string wrong_name(const std::string& text);

// Writes all of it; throws Error where standard output is full, closed or gone.
void write_stdout(std::string_view text);

// Whether anything has been written there so far.
bool has_written_stdout();

// Writes what it can: where standard error cannot be written, there is nobody to tell.
void write_stderr(std::string_view text) noexcept;

// What a report in JSON says of a failure: "error"; "where", the place in a file that the message
// begins with, if it does; "status", with which the process ends.
nlohmann::ordered_json failure_json(const std::string& message, int status);

// Writes a report as JSON, indented, ending in a newline.
void write_json(const nlohmann::ordered_json& report);

}  // namespace heddle::cli
