#include "usage.h"

#include <fmt/format.h>

#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"

namespace heddle::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

// --entry, -n, ...
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
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
      return fmt::format("there is no command `{}`{}", word,
                         did_you_mean(word, command_names(command), 1));
    }
    if (!word.starts_with('-')) return fmt::format("unexpected argument `{}`", word);
    const std::string_view name = word.substr(0, word.find('='));
    return fmt::format("there is no option `{}`{}", name,
                       did_you_mean(name, option_names(command), 2));
  }
  return text;
}

// CLI11's words for a value that does not fit, in ours.
std::string plainer(std::string text) {
  static const std::vector<std::pair<std::regex, std::string>> kWords = {
      {std::regex(R"(^(.*): Value (.*) not in range (.*) to (.*)$)"),
       "$1: $2 is not from $3 to $4"},
      {std::regex(R"(^(.*): ([^ ]*) not in \{(.*)\}$)"), "$1: there is no `$2`; choose one of $3"},
      {std::regex(R"(^(.*): \d+ required .* missing$)"), "$1: its value is missing"},
      {std::regex(R"(^(.*) requires at least \d+ argument.*$)"), "$1: its value is missing"},
  };
  for (const auto& [from, to] : kWords) text = std::regex_replace(text, from, to);
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
  text = plainer(std::move(text));
  return fmt::format("{}\n  see  {} --help", text, path);
}

}  // namespace heddle::cli
