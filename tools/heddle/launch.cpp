// heddle launch: starts the ranks of a run on this machine and says which one failed.
#include "comm/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

using comm::LaunchRequest;

volatile std::sig_atomic_t interrupted = 0, interrupts = 0;

bool saves(const std::string& word) { return word == "--save" || word.starts_with("--save="); }

void launch(const LaunchRequest& request) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(number, [](int which) {
      interrupted = which;
      interrupts = interrupts + 1;
    });
    if (number == SIGHUP && before == SIG_IGN) std::signal(number, SIG_IGN);  // nohup
  }
  LaunchRequest exact = request;
  exact.saves = std::ranges::any_of(request.command, saves);
  exact.reports_json = std::ranges::find(request.command, "--json") != request.command.end();
  exact.signals = [] { return comm::Signals{interrupted, interrupts}; };
  exact.write_output = write_stdout;
  exact.write_error = write_stderr;
  // This very program, wherever it lies.
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (exact.command[0] == "heddle" && !error) exact.command[0] = self.string();
  const comm::LaunchEnd end = comm::launch_ranks(exact).value();
  if (end.signal != 0) throw Exit{128 + end.signal};
  if (!end.failure.empty()) throw Error(end.failure);
}

}  // namespace

void add_launch(Command app) {
  const auto request = std::make_shared<LaunchRequest>();
  Command command = app.add("launch", "Start the ranks of a run on this machine, without MPI");
  command.option("-n,--ranks", request->ranks, "How many")
      .from_to(1, comm::kMostRanks)
      .shows_default();
  command
      .words("COMMAND", request->command,
             "What each rank runs: run ..., heddle run ..., or any program")
      .required();
  command.footer(
      "What follows the options of launch is the command; -- may stand between them. A first word\n"
      "that is a command of heddle stands for heddle and that command, unless -- is before it:\n"
      "  heddle launch -n 4 run step.mlir --mesh dp=2,tp=2\n"
      "Lines have their rank in front; with --json the report of the first rank stands as it is.");
  command.on_run([request] { launch(*request); });
}

}  // namespace heddle::cli
