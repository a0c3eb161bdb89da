#include "heddle/transport.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "comm/combine.h"
#include "comm/mpi/mpi_library.h"
#include "comm/mpi/mpi_transport.h"
#include "comm/process_transport.h"
#include "comm/shared_transport.h"
#include "heddle/log.h"

namespace heddle {

Transport::Transport() {
  static std::atomic<std::uint64_t> last = 0;
  id_ = ++last;
}

void Transport::take_signs_of(const Transport& other) {
  step_ = other.step_;
  moves_ = other.moves_;
  failed_ = other.failed_;
}

Verdict Transport::wait_until(std::span<const int>, const std::function<bool()>& there,
                              std::string_view what) {
  while (!there()) {
    if (failed()) return reason("{}\n  while {}", failure(), what);
    std::this_thread::yield();
  }
  return yes();
}

Verdict run_collective(Transport& transport, const Collective& collective) {
  HEDDLE_TRY(const RequestId request, transport.start(collective));
  return transport.wait(request);
}

bool can_reduce(ReduceOp op, DType dtype) { return comm::combine_function(op, dtype) != nullptr; }

Expected<double> parse_watchdog(std::string_view text) {
  double seconds = 0;
  const auto [stop, error] = std::from_chars(text.begin(), text.end(), seconds);
  if (error != std::errc{} || stop != text.end() || !(seconds >= 0.1 && seconds <= 86400))
    return reason("\"{}\" is no time for the watchdog: write seconds from 0.1 to 86400", text);
  return seconds;
}

namespace {

// Of several ranks the first, by what launchers leave in the environment.
bool speaks_for_all() {
  for (const char* variable : {comm::kRankVariable, "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(variable)) return std::string_view(rank) == "0";
  return true;
}

void warn_once(const std::string& why) {
  static std::once_flag told;
  std::call_once(told, [&] { warn("HEDDLE_WATCHDOG: {}", why); });
}

}  // namespace

WatchdogOptions default_watchdog() {
  WatchdogOptions options;
  const char* wanted = std::getenv("HEDDLE_WATCHDOG");
  if (wanted == nullptr || *wanted == '\0') return options;
  const auto seconds = parse_watchdog(wanted);
  if (seconds)
    options.seconds = *seconds;
  else if (speaks_for_all())
    warn_once(seconds.reason());
  return options;
}

std::vector<std::unique_ptr<Transport>> thread_transports(int devices,
                                                          const WatchdogOptions& watchdog) {
  HEDDLE_CHECK(devices > 0, "{} devices", devices);
  const comm::SharedWorld world{
      std::make_shared<comm::Board>(comm::private_board(devices), devices, true),
      std::make_shared<comm::PeerMemory>(), watchdog, "threads"};
  std::vector<std::unique_ptr<Transport>> transports;
  for (int r = 0; r < devices; ++r)
    transports.push_back(std::make_unique<comm::SharedTransport>(world, r));
  return transports;
}

Expected<std::unique_ptr<Transport>> connect_transport(std::string_view kind,
                                                       const WatchdogOptions& watchdog) {
  const bool launched = std::getenv(comm::kRanksVariable) != nullptr;
  if (kind == "processes" || (kind == "auto" && launched)) return comm::process_transport(watchdog);
  // MPI itself would take a process without a launcher for a run of one rank.
  const bool by_mpi = !comm::mpi_launcher().empty() || std::getenv("SLURM_PROCID") != nullptr;
  if (kind == "mpi" && !by_mpi && comm::mpi_library())
    return reason(
        "no MPI has started this process: use `mpirun -n 4 heddle ...`, srun, or `heddle "
        "launch`");
  if (kind == "mpi" || (kind == "auto" && !comm::mpi_launcher().empty()))
    return comm::mpi_transport(watchdog);
  if (kind == "auto") return std::unique_ptr<Transport>();
  return reason("there is no transport \"{}\" between processes: it is processes, mpi or auto",
                kind);
}

std::unique_ptr<Transport> solo_transport() { return std::move(thread_transports(1)[0]); }

}  // namespace heddle
