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
#include "heddle/error.h"
#include "source_line.h"

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

// Three digits of precision: "5.6", "22", "412".
std::string short_number(double value) {
  return value < 9.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
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

std::string format_bytes(double bytes) {
  if (!std::isfinite(bytes)) return fmt::format("{} B", bytes);
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  // 999.95 would be rounded to 1000.0, so it moves to the next unit.
  while (std::abs(bytes) >= (unit == 0 ? 999.5 : 999.95) && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

Expected<std::int64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, problem] = std::from_chars(begin, end, number);
  std::string unit(stop, end);
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
  double factor = 1;
  constexpr std::string_view kPrefixes = "kmgtpe";
  if (const std::size_t power = unit.empty() ? kPrefixes.npos : kPrefixes.find(unit[0]);
      power != kPrefixes.npos) {
    unit.erase(0, 1);
    const bool is_binary = unit.starts_with('i');
    if (is_binary) unit.erase(0, 1);
    factor = std::pow(is_binary ? 1024 : 1000, static_cast<double>(power + 1));
  }
  const double bytes = number * factor;
  if (problem != std::errc() || !(unit.empty() || unit == "b") || !(bytes >= 0 && bytes < 0x1p63))
    return reason("`{}` is no size: write it as 512MB, 1.5GB or 16GiB", text);
  return static_cast<std::int64_t>(bytes);
}

std::string wrong_size(const std::string& text) {
  const auto bytes = parse_bytes(text);
  return bytes ? "" : bytes.reason();
}

std::string format_seconds(double seconds) {
  if (seconds < 0) return "-" + format_seconds(-seconds);
  if (!std::isfinite(seconds)) return fmt::format("{} s", seconds);
  if (seconds == 0) return "0 s";
  if (seconds >= 9999.5) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 0.9995) return short_number(seconds) + " s";
  if (seconds >= 0.9995e-3) return short_number(seconds * 1e3) + " ms";
  if (seconds >= 0.9995e-6) return short_number(seconds * 1e6) + " us";
  if (seconds < 0.05e-9) return fmt::format("{:.1g} ns", seconds * 1e9);
  return short_number(seconds * 1e9) + " ns";
}

std::string shortened(std::string_view text, std::size_t columns) {
  // A byte that continues a UTF-8 character takes no column.
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  const auto width = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [&](char c) { return !continues(c); }));
  if (width <= columns) return std::string(text);
  const std::size_t keep = columns < 3 ? 0 : columns - 3;
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!continues(text[end]) && seen++ == keep) break;
  }
  return std::string(text.substr(0, end)) + std::string(std::min<std::size_t>(columns, 3), '.');
}

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
