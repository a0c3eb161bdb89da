#include "terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "commands.h"
#include "frontend/message_place.h"
#include "heddle/error.h"

namespace heddle::cli {
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

std::atomic<bool> wrote_stdout = false;

// 0, or the error number.
int write_all(int stream, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(stream, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

}  // namespace

void add_report_options(CLI::App& command, ReportOptions& options) {
  command.add_flag("--json", options.json, "Write the report as JSON");
  command.add_flag("--plain", options.plain, "No colour and no Unicode, even on a terminal");
}

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

std::string wrong_size(const std::string& text) {
  const auto bytes = parse_bytes(text);
  return bytes ? "" : bytes.reason();
}

std::string wrong_name(const std::string& text) { return text.empty() ? "the name is empty" : ""; }

bool has_written_stdout() { return wrote_stdout; }

void write_stdout(std::string_view text) {
  wrote_stdout = wrote_stdout || !text.empty();
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw Exit{kExitFailed};  // the reader has gone and needs no telling
  if (error != 0)
    throw Error(
        fmt::format("cannot write to standard output: {}", std::generic_category().message(error)));
}

void write_stderr(std::string_view text) noexcept { (void)write_all(STDERR_FILENO, text); }

nlohmann::ordered_json failure_json(const std::string& message, int status) {
  nlohmann::ordered_json report = {{"error", message}};
  if (std::string place = place_of(message); !place.empty()) report["where"] = std::move(place);
  report["status"] = status;
  return report;
}

void write_json(const nlohmann::ordered_json& report) {
  using Json = nlohmann::ordered_json;
  write_stdout(report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace heddle::cli
