#include "options.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "command_line.h"
#include "commands.h"
#include "heddle/version.h"
#include "terminal.h"
#include "usage.h"

namespace heddle::cli {
namespace {

std::string wrong_name(const std::string& text) { return text.empty() ? "the name is empty" : ""; }

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

Exit wrong(const CLI::App& app, const CLI::ParseError& mistake, int argc, char** argv) {
  Usage usage{.path = app.get_name()};
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().back();
    usage.path += " " + command->get_name();
  }
  usage.commands = command_names(*command);
  usage.options = option_names(*command);
  usage.words.assign(argv, argv + argc);
  const bool extra = mistake.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  return {kExitUsage, usage_message(usage, mistake.what(), extra)};
}

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

}  // namespace

Option Option::required() { return Option(option_->required()); }
Option Option::shows_default() { return Option(option_->capture_default_str()); }
Option Option::check(std::string (*wrong)(const std::string&)) {
  return Option(option_->check(wrong));
}
Option Option::not_empty() { return check(wrong_name); }
Option Option::one_of(const std::vector<std::string>& words) {
  return Option(option_->check(CLI::IsMember(words)));
}
Option Option::from_to(std::int64_t least, std::int64_t most) {
  return Option(option_->check(CLI::Range(least, most)));
}
Option Option::commas() { return Option(option_->delimiter(',')); }
Option Option::called(const std::string& type) { return Option(option_->type_name(type)); }

Command Command::add(const std::string& name, const std::string& about) {
  return Command(app_->add_subcommand(name, about));
}

void Command::on_run(std::function<void()> work) {
  app_->callback([work = std::move(work)] {
    try {
      work();
    } catch (const WrongUse& use) {
      throw CLI::ValidationError(use.option, use.text);
    }
  });
}

void Command::footer(const std::string& text) { app_->footer(text); }
bool Command::is_alone() const { return app_->get_subcommands().empty(); }
std::string Command::help() const { return app_->help(app_->get_parent()->get_name()); }

Option Command::flag(const std::string& names, bool& value, const std::string& about) {
  return Option(app_->add_flag(names, value, about));
}
Option Command::option(const std::string& names, std::string& value, const std::string& about) {
  return Option(app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, std::optional<std::string>& value,
                       const std::string& about) {
  return Option(app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, std::optional<double>& value,
                       const std::string& about) {
  return Option(app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, int& value, const std::string& about) {
  return Option(app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, std::int64_t& value, const std::string& about) {
  return Option(app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, std::vector<std::string>& values,
                       const std::string& about) {
  return Option(app_->add_option(names, values, about)->allow_extra_args(false));
}
Option Command::words(const std::string& name, std::vector<std::string>& values,
                      const std::string& about) {
  return Option(app_->add_option(name, values, about));
}

void Command::program_file(std::string& file) {
  option("FILE", file, "StableHLO text; - is standard input").required();
}

void Command::report(ReportOptions& options) {
  flag("--json", options.json, "Write the report as JSON");
  flag("--plain", options.plain, "No colour and no Unicode, even on a terminal");
}

void run_command_line(int argc, char** argv) {
  CLI::App app(
      "Heddle: reads tensor programs (StableHLO), checks, rewrites and runs them; plans moves\n"
      "of data between layouts on many devices.",
      "heddle");
  app.set_version_flag("--version", version_line(), "Show the version and exit");
  prepare_help(app);
  for (const AddCommand add : kCommands) add(Command(&app));
  std::vector<std::string> words = words_to_parse(command_names(app));
  std::ranges::reverse(words);  // as CLI11 wants them
  try {
    app.parse(words);
    if (app.get_subcommands().empty()) write_stdout(app.help());
  } catch (const CLI::Success& request) {  // --help and --version
    std::ostringstream text;
    app.exit(request, text, text);
    write_stdout(text.str());
  } catch (const CLI::ParseError& mistake) {
    throw wrong(app, mistake, argc, argv);
  }
}

}  // namespace heddle::cli
