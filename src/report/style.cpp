#include "heddle/style.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace heddle {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The locale says UTF-8, by the usual order of its variables.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    return value.find("UTF-8") != value.npos || value.find("UTF8") != value.npos;
  }
  return false;
}

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return Style::kMaxColumns;
  return std::min<int>(size.ws_col, Style::kMaxColumns);
}

}  // namespace

Style Style::of_stdout(bool plain) {
  if (plain || ::isatty(STDOUT_FILENO) == 0) return Style::plain();
  const std::string_view terminal = environment("TERM");
  const bool colour = environment("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
  return {colour, locale_is_utf8(), terminal_columns()};
}

std::string Style::wrapped(std::string_view code, std::string_view text) const {
  if (!colour_) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Style::bold(std::string_view text) const { return wrapped("1", text); }
std::string Style::dim(std::string_view text) const { return wrapped("2", text); }
std::string Style::red(std::string_view text) const { return wrapped("31", text); }
std::string Style::green(std::string_view text) const { return wrapped("32", text); }
std::string Style::yellow(std::string_view text) const { return wrapped("33", text); }

std::string Style::on_colour(int colour, std::string_view text) const {
  return wrapped(fmt::format("48;5;{}", colour), text);
}

std::string_view Style::either(std::string_view unicode, std::string_view ascii) const {
  return unicode_ ? unicode : ascii;
}

}  // namespace heddle
