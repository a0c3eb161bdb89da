// heddle solve: the cheapest assignment of a cost-function network that fits its memory.
#include <unistd.h>

#include <chrono>
#include <memory>

#include "commands.h"
#include "heddle/cost_network_file.h"
#include "heddle/solve_report.h"
#include "stoppable.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kLongestSolve = 1e6;
constexpr double kReserve = 0.02, kMostReserve = 1;  // for the answer, of the time that is given

struct SolveRequest {
  std::string file;
  std::optional<double> seconds;
  int level = 0;  // 0: 3 where a time is given, else 2
  ReportOptions report;
};

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// Cost and bound on the last line of a terminal, for people who wait.
class ProgressLine {
 public:
  void show(const SolveProgress& progress) {
    if (!is_terminal_ || progress.seconds < next_) return;
    next_ = progress.seconds + 0.2;
    const std::string cost = progress.cost == CostNetwork::kForbidden
                                 ? "nothing fits yet"
                                 : fmt::format("cost {}", progress.cost);
    write_stderr(
        fmt::format("\r\x1b[K{:.0f} s: {}, bound {}", progress.seconds, cost, progress.bound));
    shown_ = true;
  }
  ~ProgressLine() {
    if (shown_) write_stderr("\r\x1b[K");
  }

 private:
  const bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  double next_ = 1;
};

SolveOptions options_of(const SolveRequest& request, double spent) {
  SolveOptions options;
  options.level = request.level != 0 ? request.level : request.seconds ? 3 : 2;
  if (request.seconds) {
    const double given = *request.seconds;
    options.seconds = std::max(0.01, given - spent - std::min(kMostReserve, kReserve * given));
  }
  return options;
}

void run(const SolveRequest& request) {
  if (request.seconds && !(*request.seconds > 0 && *request.seconds <= kLongestSolve))
    throw WrongUse{"--seconds", "write a number above 0, at most 1000000"};
  const SteadyClock::time_point begin = SteadyClock::now();
  const CostNetwork network = read_cost_network(request.file).value();
  SolveOptions options = options_of(request, seconds_since(begin));
  Expected<Solution> solution = [&] {
    const Stoppable stoppable;
    options.stop = stoppable.token();
    ProgressLine line;
    options.on_progress = [&](const SolveProgress& progress) { line.show(progress); };
    return solve(network, options);
  }();
  if (!solution) throw Error(fmt::format("{}: {}", request.file, solution.reason()));
  SolveReport report{*std::move(solution), seconds_since(begin), 0, network.limit()};
  report.peak = network.peak_of(report.solution.values);
  write_report(report, request.report);
}

}  // namespace

void add_solve(Command app) {
  const auto request = std::make_shared<SolveRequest>();
  Command command =
      app.add("solve", "Find the cheapest assignment of a network of costs that fits");
  command
      .option("INSTANCE", request->file,
              "JSON of the ASPLOS 2025 contest on intra-operator parallelism; .gz too")
      .required();
  command.option("--seconds", request->seconds, "Stop after this time, reading included");
  command
      .option("--level", request->level,
              "2: a fixed amount of work; 3: until it is proved or stopped\n"
              "(3 with --seconds, else 2)")
      .from_to(2, 3);
  command.report(request->report);
  command.on_run([request] { run(*request); });
}

}  // namespace heddle::cli
