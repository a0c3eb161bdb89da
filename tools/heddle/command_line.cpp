#include "command_line.h"

#include <algorithm>
#include <vector>

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

std::string command_to_restore(const std::string& checkpoint) {
  std::string text = "heddle";
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
