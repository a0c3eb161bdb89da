#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace heddle {
namespace {

// Three digits of precision: "5.6", "22", "412".
std::string short_number(double value) {
  return value < 9.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string counted(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
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

std::optional<double> parse_figure(std::string_view text, FigureUnits units) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (problem != std::errc() || !(value >= 0) || !std::isfinite(value)) return std::nullopt;
  for (const FigureUnit& known : units)
    if (unit == known.spelling) return value * known.factor;
  return std::nullopt;
}

std::string spelled(FigureUnits units) {
  std::string list;
  for (const FigureUnit& unit : units)
    list += (list.empty() ? "" : ", ") + std::string(unit.spelling);
  return list;
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

std::string without_place(const std::string& reason) {
  const std::size_t start = reason.find(": ");
  const std::string first = reason.substr(0, reason.find('\n'));
  return start < first.size() ? first.substr(start + 2) : first;
}

}  // namespace heddle
