#include "usage.h"

#include <fmt/format.h>

#include "base/nearest.h"

namespace heddle::cli {
namespace {

// Says for a word that CLI11 did not expect what a user would say of it.
std::string unexpected(const Usage& usage, const std::string& text) {
  const std::size_t colon = text.rfind(": ");
  const std::string list = " " + text.substr(colon == text.npos ? 0 : colon + 2) + " ";
  for (std::size_t i = 1; i < usage.words.size(); ++i) {
    const std::string& word = usage.words[i];
    if (list.find(fmt::format(" {} ", word)) == list.npos) continue;
    if (!word.starts_with('-') && usage.commands.empty())
      return fmt::format("unexpected argument `{}`", word);
    if (!word.starts_with('-'))
      return fmt::format("there is no command `{}`{}", word, did_you_mean(word, usage.commands, 1));
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("there is no option `{}`{}", name, did_you_mean(name, usage.options, 2));
  }
  return text;
}

// The parts of a text before, between and behind these marks, in their order; none where one is
// missing.
std::vector<std::string> parts_at(const std::string& text, const std::vector<std::string>& marks) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (const std::string& mark : marks) {
    const std::size_t at = text.find(mark, from);
    if (at == text.npos) return {};
    parts.push_back(text.substr(from, at - from));
    from = at + mark.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

// CLI11's words for a value that does not fit, in ours.
std::string plainer(const std::string& text) {
  if (const auto p = parts_at(text, {": Value ", " not in range ", " to "}); !p.empty())
    return fmt::format("{}: {} is not from {} to {}", p[0], p[1], p[2], p[3]);
  if (const auto p = parts_at(text, {": ", " not in {", "}"});
      !p.empty() && p[1].find(' ') == std::string::npos)
    return fmt::format("{}: there is no `{}`; choose one of {}", p[0], p[1], p[2]);
  if (const auto p = parts_at(text, {": ", " required ", " missing"});
      !p.empty() && p[1].find_first_not_of("0123456789") == std::string::npos)
    return p[0] + ": its value is missing";
  if (const auto p = parts_at(text, {" requires at least ", " argument"}); !p.empty())
    return p[0] + ": its value is missing";
  return text;
}

}  // namespace

std::string usage_message(const Usage& usage, std::string text, bool extra) {
  if (extra) text = unexpected(usage, text);
  while (text.ends_with('\n')) text.pop_back();
  return fmt::format("{}\n  see  {} --help", plainer(text), usage.path);
}

}  // namespace heddle::cli
