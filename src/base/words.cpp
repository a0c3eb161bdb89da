#include "base/words.h"

#include <algorithm>
#include <utility>

namespace heddle {

std::size_t find_outside(std::string_view text, char sign, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == sign && depth <= 0) return i;
    if (c == '\'' || c == '"') {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      if (end < text.size()) i = end;
    }
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
  }
  return std::string_view::npos;
}

std::vector<std::string> split_outside(std::string_view text, char sign) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const std::size_t end = find_outside(text, sign, start);
    std::string part(text.substr(start, end == text.npos ? text.npos : end - start));
    part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(std::move(part));
    if (end == text.npos) return parts;
    start = end + 1;
  }
}

}  // namespace heddle
