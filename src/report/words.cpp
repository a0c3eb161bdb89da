#include "report/words.h"

#include "base/text.h"

namespace heddle::report {
namespace {

// The end of the word that begins at `at`.
std::size_t word_end(const std::string& text, std::size_t at) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (at = text.find(' ', at); at < text.size(); at = text.find(' ', at + 1))
    if (at == 0 || !digit(at - 1) || !digit(at + 1)) return at;
  return text.size();
}

}  // namespace

std::string bytes_text(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

std::string end_of(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) return name;
  std::size_t from = name.size() - columns + 3;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0) == 0x80) ++from;
  return "..." + name.substr(from);
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = word_end(text, at);
    if (used > 0 && used + 1 + end - at > columns) {
      out += "\n" + std::string(indent, ' ');
      used = 0;
    }
    out += (used > 0 ? " " : "") + text.substr(at, end - at);
    used += (used > 0 ? 1 : 0) + end - at;
    at = end + 1;
  }
  return out;
}

}  // namespace heddle::report
