#include "option_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace heddle::cli {

std::string wrong_size(const std::string& text) {
  const auto bytes = parse_bytes(text);
  return bytes ? "" : bytes.reason();
}

std::string wrong_tolerance(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  if (is_number && std::isfinite(value) && value >= 0) return "";
  return fmt::format("{} is no tolerance: write a number of at least 0, as in 1e-4", text);
}

std::optional<std::int64_t> bytes_of_option(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_bytes(text).value();
}

std::string as_option(std::string reason) {
  constexpr std::array kFirst = {"axes",    "batch",   "bind", "carry", "closed",
                                 "cluster", "dump",    "fix",  "input", "output",
                                 "plan",    "restore", "save", "shard", "why"};
  const std::string word = reason.substr(0, reason.find_first_of(" :"));
  if (std::ranges::find(kFirst, word) != kFirst.end()) reason.insert(0, "--");
  for (const char* inside :
       {"carry", "cycle", "dtype", "fix", "io", "memory", "mesh", "plan", "steps"}) {
    const std::string quoted = fmt::format("`{}`", inside), typed = fmt::format("--{}", inside);
    // What somebody may have meant is a word of the program or of the option itself.
    const auto next = [&](std::size_t from) {
      const std::size_t at = reason.find(quoted, from);
      return at < reason.find("did you mean") ? at : reason.npos;
    };
    for (std::size_t at = next(0); at != reason.npos; at = next(at))
      reason.replace(at, quoted.size(), typed);
  }
  return reason;
}

}  // namespace heddle::cli
