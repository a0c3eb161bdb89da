// Arguments and results by their numbers: arg3, %arg3 or arg3-7.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace heddle {

struct ValueRange {
  std::size_t first = 0, last = 0;
};

// Of what is called `word`, "arg" or "result"; the last may come before the first.
inline std::optional<ValueRange> value_range(std::string_view text, std::string_view word) {
  if (text.starts_with('%')) text.remove_prefix(1);
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  ValueRange range;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  auto [at, problem] = std::from_chars(begin, end, range.first);
  if (problem != std::errc{}) return std::nullopt;
  range.last = range.first;
  if (at != end && *at == '-') {
    const auto second = std::from_chars(at + 1, end, range.last);
    if (second.ec != std::errc{}) return std::nullopt;
    at = second.ptr;
  }
  return at == end ? std::optional(range) : std::nullopt;
}

}  // namespace heddle
