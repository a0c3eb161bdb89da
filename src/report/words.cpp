#include "report/words.h"

#include <cmath>

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

std::string exact_bytes(std::int64_t count) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto bytes = static_cast<double>(count);
  int unit = 0;
  for (; std::abs(bytes) >= 1000 && unit < 4; ++unit) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string exact_seconds(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return size < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string bound_words(std::string_view whose, double bound, double gap, std::string_view none) {
  if (bound <= 0) return std::string(none);
  return fmt::format("and {} takes less than {} (gap {:.2g} %)", whose, exact_seconds(bound),
                     100 * gap);
}

std::string end_of(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) return name;
  std::size_t from = name.size() - columns + 3;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0) == 0x80) ++from;
  return "..." + name.substr(from);
}

std::string without_folders(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != '/') {
      out += c;
      continue;
    }
    const std::size_t word = out.find_last_of(" (");
    out.erase(word == out.npos ? 0 : word + 1);
  }
  return out;
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
