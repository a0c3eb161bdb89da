#include "frontend/source_line.h"

#include <algorithm>

#include "base/printable.h"

namespace heddle::frontend {

namespace {

std::size_t line_start(std::string_view text, std::size_t at) {
  const std::size_t before = text.substr(0, at).rfind('\n');
  return before == std::string_view::npos ? 0 : before + 1;
}

}  // namespace

std::string quoted_line(std::string_view text, std::size_t at, std::size_t line) {
  const std::size_t start = line_start(text, at);
  const std::size_t from = std::max(start, at < 60 ? 0 : at - 60);
  std::string shown;
  for (const char c : text.substr(from, 96)) {
    if (c == '\n' || c == '\r') break;
    shown += c >= ' ' && c < 127 ? c : c == '\t' ? ' ' : '?';
  }
  const std::string number = std::to_string(line);
  return fmt::format("\n  {} | {}\n  {} | {:>{}}", number, shown, std::string(number.size(), ' '),
                     "^", at - from + 1);
}

Reason located(std::string_view text, const std::string& file, std::size_t first_line,
               const ParseFailure& failure) {
  const std::size_t at = std::min(failure.at, text.size());
  const std::size_t line =
      first_line + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
  return reason("{}:{}:{}: {}{}", file.empty() ? "text" : file, line, at - line_start(text, at) + 1,
                printable(failure.what), quoted_line(text, at, line));
}

}  // namespace heddle::frontend
