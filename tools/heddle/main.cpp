// heddle: the command line.
#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/printable.h"
#include "command_line.h"
#include "commands.h"
#include "frontend/message_place.h"
#include "heddle/error.h"
#include "heddle/log.h"
#include "heddle/version.h"
#include "terminal.h"
#include "usage.h"

namespace heddle::cli {
namespace {

// A closed stream must not be taken by the next file that is opened. Reading a closed input and
// writing to a closed output then fail.
void keep_standard_streams() {
  for (const int stream : {0, 1, 2}) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == 1 ? O_RDONLY : O_WRONLY);
  }
}

// Who asked for JSON gets it, unless a report that says the same is there already.
int complain(const std::string& message, int status) {
  write_stderr(fmt::format("heddle: {}\n", printable(message, true)));
  if (!asks_for_json() || has_written_stdout()) return status;
  nlohmann::ordered_json report = {{"ok", false}};
  report.update(failure_json(message, status));
  try {
    write_json(report);
  } catch (...) {  // there is nobody to tell
  }
  return status;
}

std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  std::vector<std::string> words = words_to_parse(names);
  std::ranges::reverse(words);  // as CLI11 wants them
  return words;
}

int parse_and_run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(words_of(app));
    if (app.get_subcommands().empty()) write_stdout(app.help());
    return 0;
  } catch (const CLI::Success& request) {  // --help and --version
    std::ostringstream text;
    app.exit(request, text, text);
    write_stdout(text.str());
    return 0;
  } catch (const CLI::ParseError& mistake) {
    return complain(usage_message(app, mistake, argc, argv), kExitUsage);
  }
}

int run(int argc, char** argv) {
  CLI::App app(
      "Heddle: reads tensor programs (StableHLO), checks, rewrites and runs them; plans moves\n"
      "of data between layouts on many devices.",
      "heddle");
  app.set_version_flag("--version", version_line(), "Show the version and exit");
  prepare_help(app);
  for (const AddCommand add : kCommands) add(app);
  return parse_and_run(app, argc, argv);
}

}  // namespace
}  // namespace heddle::cli

int main(int argc, char** argv) {
  using namespace heddle::cli;
  keep_standard_streams();
  keep_command_line(argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  heddle::log_level();  // reads HEDDLE_LOG now, so that a wrong value is told whatever is run
  try {
    return run(argc, argv);
  } catch (const Exit& exit) {
    return exit.message.empty() ? exit.status : complain(exit.message, exit.status);
  } catch (const heddle::Error& error) {
    return complain(heddle::with_source_line(error.what()), kExitFailed);
  } catch (const heddle::InternalError& error) {
    return complain(error.what(), kExitInternal);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kExitFailed);
  } catch (const std::exception& error) {
    return complain(heddle::InternalError("no stray exception", error.what()).what(),
                    kExitInternal);
  }
}
