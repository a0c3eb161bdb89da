#include "heddle/execute.h"

#include <algorithm>
#include <chrono>

#include "heddle/log.h"
#include "heddle/ranks.h"

namespace heddle {
namespace {

// Bytes of their own, so that a run may overwrite them.
DeviceParts owned(DeviceParts parts) {
  for (std::vector<Array>& of_device : parts)
    for (Array& part : of_device) (void)part.mutable_bytes();
  return parts;
}

}  // namespace

std::string_view name(Engine engine) { return kEngineNames[static_cast<std::size_t>(engine)]; }

Expected<Engine> parse_engine(std::string_view name) {
  const auto found = std::ranges::find(kEngineNames, name);
  if (found != kEngineNames.end()) return static_cast<Engine>(found - kEngineNames.begin());
  return reason("there is no engine `{}`; choose one of {}", name, fmt::join(kEngineNames, ", "));
}

double Execution::median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

Expected<Execution> execute(Deployed& deployed, const std::vector<Array>& arguments,
                            const ExecuteOptions& how, const InterpretOptions& options) {
  Deployment& place = deployed.deployment;
  if (place.ranks_with_parts())
    HEDDLE_TRY_VOID(compare_inputs(*place.ranks_with_parts(), arguments, how.sources));
  HEDDLE_TRY(const DeviceParts parts, place.deal_out(arguments));
  const auto given = [&] { return how.donate ? owned(parts) : parts; };
  Execution done;
  RunOptions run;
  run.trace = options.trace;
  run.print = options.print;
  DeviceParts results;
  // A run is over when the last rank is done, as with threads.
  Transport* ranks = place.ranks_with_parts();
  for (int i = 0; i < how.repeat; ++i) {
    DeviceParts now = given();
    results.clear();
    const auto start = std::chrono::steady_clock::now();
    HEDDLE_TRY(results, place.run(std::move(now), run));
    if (ranks != nullptr && how.repeat > 1) HEDDLE_TRY_VOID(meet(*ranks));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    done.seconds.push_back(took.count());
    run.trace = nullptr;  // the first run says it all
  }
  if (how.time_steps && deployed.executable) {
    if (Verdict code = deployed.executable->finish_compiling(); !code)
      log(kLogSteps, "not all kernels have machine code: {}", code.reason());
    run.print = [](std::string_view) {};
    // Beside the results that are kept, the next ones lie in memory that nobody has touched before.
    // What a run takes that finds its memory as it left it is seen in the second one.
    for (int i = 0; i < (how.repeat > 1 ? 2 : 1); ++i) {
      done.times.clear();
      run.times = &done.times;
      HEDDLE_TRY_VOID(place.run(given(), run));
    }
  }
  HEDDLE_TRY(done.results, place.whole(results));
  deployed.describe(done);
  done.explained = how.explain && deployed.executable;
  return done;
}

}  // namespace heddle
