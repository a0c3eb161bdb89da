#include "command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "comm/process_transport.h"

namespace heddle::cli {
namespace {

std::vector<std::string>& words() {
  static std::vector<std::string> kept;
  return kept;
}

// As a shell takes it for one word.
std::string shell_quoted(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

void keep_command_line(int argc, char** argv) { words().assign(argv, argv + argc); }

bool asks_for_json() {
  const auto& all = words();
  // What launch starts stands behind --, and answers for itself where it gets so far.
  const bool launches = all.size() > 1 && all[1] == "launch";
  const auto end = launches ? all.end() : std::ranges::find(all, "--");
  return std::find(all.begin(), end, "--json") != end;
}

std::vector<std::string> words_to_parse(const std::vector<std::string>& commands) {
  std::vector<std::string> parsed = words();
  if (!parsed.empty()) parsed.erase(parsed.begin());
  if (parsed.empty() || parsed[0] != "launch") return parsed;
  auto at = parsed.begin() + 1;
  for (; at != parsed.end() && at->starts_with('-'); ++at) {
    if (*at == "--") return parsed;
    const bool takes_next = *at == "-n" || *at == "--ranks";
    if (takes_next && at + 1 != parsed.end()) ++at;
  }
  if (at == parsed.end()) return parsed;
  const bool is_ours = std::ranges::find(commands, *at) != commands.end();
  at = parsed.insert(at, "--");
  if (is_ours) parsed.insert(at + 1, "heddle");
  return parsed;
}

std::string command_to_restore(const std::string& checkpoint) {
  std::string text = "heddle";
  // A rank knows what it was started with, and the user what started it.
  const char* const ranks = std::getenv(comm::kRanksVariable);
  if (ranks != nullptr && std::getenv(comm::kBoardVariable) != nullptr)
    text += fmt::format(" launch -n {}", ranks);
  for (std::size_t i = 1; i < words().size(); ++i) {
    if (words()[i] == "--restore") {
      ++i;  // and what it names
      continue;
    }
    if (!words()[i].starts_with("--restore=")) text += " " + shell_quoted(words()[i]);
  }
  return text + " --restore " + shell_quoted(checkpoint);
}

}  // namespace heddle::cli
