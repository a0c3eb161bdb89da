#include "frontend/message_place.h"

#include <charconv>
#include <filesystem>
#include <optional>

#include "frontend/array_file.h"
#include "frontend/source_line.h"

namespace heddle {
namespace {

struct Place {
  std::string file;
  std::size_t line = 0, column = 0;
};

// Takes digits and what must follow them.
bool take_number(std::string_view& text, std::size_t& number, std::string_view then) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(then)) return false;
  text.remove_prefix(then.size());
  return true;
}

// The file is what stands before the first ":line:column: ".
std::optional<Place> place_in(const std::string& message) {
  for (std::size_t at = message.find(':'); at != std::string::npos;
       at = message.find(':', at + 1)) {
    Place place{message.substr(0, at)};
    std::string_view rest = std::string_view(message).substr(at + 1);
    if (take_number(rest, place.line, ":") && take_number(rest, place.column, ": ")) return place;
  }
  return std::nullopt;
}

// Where a line and column lie in the text; the end of the line where it is shorter.
std::optional<std::size_t> offset(std::string_view text, const Place& place) {
  std::size_t start = 0;
  for (std::size_t line = 1; line < place.line; ++line) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string_view::npos) return std::nullopt;
    start = end + 1;
  }
  const std::size_t length = std::min(text.find('\n', start), text.size()) - start;
  return start + std::min(place.column - 1, length);
}

}  // namespace

std::string place_of(const std::string& message) {
  for (std::size_t at = message.find(':'); at != std::string::npos;
       at = message.find(':', at + 1)) {
    std::size_t line = 0, column = 0;
    std::string_view rest = std::string_view(message).substr(at + 1);
    if (!take_number(rest, line, ":") || !take_number(rest, column, "")) continue;
    std::string file = message.substr(0, at);
    std::error_code problem;  // names may have blanks
    const bool whole = file == "standard input" || std::filesystem::is_regular_file(file, problem);
    if (!whole) file.erase(0, file.find_last_of(" \n(`") + 1);
    if (!file.empty()) return file + ":" + std::to_string(line) + ":" + std::to_string(column);
  }
  return "";
}

std::string with_source_line(const std::string& message) {
  if (message.find('\n') != std::string::npos) return message;
  const auto place = place_in(message);
  std::error_code problem;
  if (!place || place->line == 0 || place->column == 0 ||
      !std::filesystem::is_regular_file(place->file, problem))
    return message;
  const auto text = frontend::read_bytes(place->file);
  if (!text) return message;
  std::string_view content = *text;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  const auto at = offset(content, *place);
  return at ? message + frontend::quoted_line(content, *at, place->line) : message;
}

}  // namespace heddle
