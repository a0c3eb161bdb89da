#include "ranks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/cores.h"
#include "heddle/run_parallel.h"

namespace heddle::cli {
namespace {

std::string wrong_watchdog(const std::string& text) {
  const auto seconds = parse_watchdog(text);
  return seconds ? "" : seconds.reason();
}

void be_quiet() {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

// Ranks of one machine share its cores; what the user has set stays.
void share_cores() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    const char* ranks = std::getenv(variable);
    const int count = ranks == nullptr ? 0 : std::atoi(ranks);
    if (count < 1) continue;
    const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    // mpirun may have bound this rank to its share already.
    const int share = std::min(usable_cores(), std::max(1, all / count));
    ::setenv("HEDDLE_THREADS", std::to_string(share).c_str(), 0);
  }
}

}  // namespace

WatchdogOptions RankRequest::watchdog_options() const {
  WatchdogOptions options = default_watchdog();
  if (!watchdog.empty()) options.seconds = parse_watchdog(watchdog).value();
  return options;
}

void add_rank_options(Command& command, RankRequest& request) {
  command
      .option("--transport", request.transport,
              "How devices exchange data: threads of this process; processes, of\n"
              "`heddle launch`; mpi, of mpirun; auto: by who has started this one")
      .one_of({"auto", "threads", "processes", "mpi"})
      .shows_default();
  command
      .option("--watchdog", request.watchdog,
              "Seconds after which a rank without a sign of life ends the run (3)")
      .check(wrong_watchdog);
}

std::unique_ptr<Transport> connect_ranks(const RankRequest& request) {
  if (request.transport == "threads") return nullptr;
  share_cores();
  auto ranks = connect_transport(request.transport, request.watchdog_options()).value();
  if (ranks && ranks->rank() != 0) be_quiet();
  return ranks;
}

ParallelRunner parallel_runner(const RankRequest& request, Transport* ranks) {
  if (ranks != nullptr) return run_parallel_on(*ranks, {});
  if (request.transport == "threads") return run_parallel_on_threads({});
  return {};
}

}  // namespace heddle::cli
