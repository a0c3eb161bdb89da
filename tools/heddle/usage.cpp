#include "usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

namespace heddle::cli {
namespace {

// How many letters must be typed anew to turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// "; did you mean `doctor`?" or nothing.
std::string suggestion(const CLI::App& app, std::string_view word) {
  std::string best;
  std::size_t best_distance = 3;
  for (const CLI::App* command : commands_of(app)) {
    const std::size_t distance = edit_distance(word, command->get_name());
    if (distance < best_distance) {
      best_distance = distance;
      best = command->get_name();
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean `{}`?", best);
}

// The innermost command that was named: "heddle layout show".
const CLI::App* innermost(const CLI::App* app, std::string& path) {
  path = app->get_name();
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().back();
    path += " " + app->get_name();
  }
  return app;
}

// Says for a word that CLI11 did not expect what a user would say of it.
std::string unexpected(const CLI::App& command, const std::string& text, int argc, char** argv) {
  const bool takes_commands = !commands_of(command).empty();
  const std::size_t colon = text.rfind(": ");
  const std::string list = " " + text.substr(colon == text.npos ? 0 : colon + 2) + " ";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (list.find(fmt::format(" {} ", word)) == list.npos) continue;
    if (takes_commands && !word.starts_with('-')) {
      return fmt::format("there is no command `{}`{}", word, suggestion(command, word));
    }
    return fmt::format("unexpected argument `{}`", word);
  }
  return text;
}

}  // namespace

void prepare_help(CLI::App& app) {
  app.get_formatter()->column_width(28);
  app.get_formatter()->label("OPTIONS", "options");
  app.get_formatter()->label("SUBCOMMAND", "command");
  app.group("Commands");
  app.footer(
      "HEDDLE_LOG=1, 2 or 3 in the environment lets Heddle say on standard error what it does:\n"
      "1 a line for each plan or kernel, 2 whole plans, 3 generated sources.");
  app.set_help_flag("-h,--help", "Show this help and exit");
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& mistake, int argc,
                          char** argv) {
  std::string path;
  const CLI::App* command = innermost(&app, path);
  std::string text = mistake.what();
  if (mistake.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    text = unexpected(*command, text, argc, argv);
  }
  while (text.ends_with('\n')) text.pop_back();
  return fmt::format("{}\n  see  {} --help", text, path);
}

}  // namespace heddle::cli
