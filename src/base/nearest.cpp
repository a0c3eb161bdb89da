#include "base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace heddle {
namespace {

// Words longer than this are not what anybody typed, and comparing them takes the square of it.
constexpr std::size_t kLongest = 256;

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string small(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return small(c); });
  return out;
}

// The words of a small text: params, layers, 0 and q of params['layers'][0].q.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// By a letter, not the dash of an option.
bool begin_alike(std::string_view a, std::string_view b) { return a[0] == b[0] && a[0] != '-'; }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = last[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({changed, row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = last;
    last = row;
  }
  return last.back();
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known,
                                 std::size_t most) {
  if (word.empty() || word.size() > kLongest) return {};
  const std::string asked = small(word);
  const std::vector<std::string> asked_words = words_of(asked);
  std::vector<std::pair<std::size_t, std::size_t>> found;  // how far, and which
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].size() > kLongest) continue;
    const std::string name = small(known[i]);
    const std::size_t longer = std::max(asked.size(), name.size());
    const std::size_t far = edit_distance(asked, name);
    const std::vector<std::string> words = words_of(name);
    const bool is_word = std::ranges::find(words, asked) != words.end();
    if (!asked_words.empty() && words == asked_words)
      found.emplace_back(0, i);  // only dots and brackets are others
    else if (far <=
             std::max<std::size_t>(longer / 3, longer > 2 || begin_alike(asked, name) ? 1 : 0))
      found.emplace_back(far, i);
    else if (is_word || (asked.size() > 2 && name.find(asked) != name.npos))
      found.emplace_back(kLongest + far, i);  // after those that are only misspelt
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (const auto& [far, i] : found)
    if (names.size() < most && std::ranges::find(names, known[i]) == names.end())
      names.push_back(known[i]);
  return names;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         std::size_t most) {
  const std::vector<std::string> names = nearest(word, known, most);
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += fmt::format("{}`{}`", i == 0 ? "" : i + 1 < names.size() ? ", " : " or ", names[i]);
  return list.empty() ? "" : fmt::format("; did you mean {}?", list);
}

}  // namespace heddle
