#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle {

namespace {

bool plain(char c) { return c >= ' ' && c < 127; }

// How many bytes the UTF-8 character at the start takes; 0 where there is none to show.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t size = first >= 0xF0 && first < 0xF5   ? 4
                           : first >= 0xE0 && first < 0xF0 ? 3
                           : first >= 0xC2 && first < 0xE0 ? 2
                                                           : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned second = byte(1);
  const bool control = first == 0xC2 && second < 0xA0;
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool no_character = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return control || overlong || no_character ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text, bool keep_lines) {
  if (std::ranges::all_of(text, plain)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const char c = text[0];
    const std::size_t size = plain(c) || (keep_lines && c == '\n') ? 1 : character_size(text);
    if (size == 0) {
      out += c == '\n'   ? "\\n"
             : c == '\t' ? "\\t"
                         : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

}  // namespace heddle
