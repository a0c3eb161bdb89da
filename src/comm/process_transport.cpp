#include "comm/process_transport.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "comm/monitor.h"
#include "comm/shared_transport.h"

namespace heddle::comm {

namespace {

Expected<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int value = 0;
  if (text == nullptr) return reason("{} is not set: start ranks with `heddle launch`", variable);
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end || value < 0)
    return reason("{}={} is no number: `heddle launch` sets it", variable, text);
  return value;
}

class ProcessTransport : public SharedTransport {
 public:
  ProcessTransport(const SharedWorld& world, int rank, double seconds)
      : SharedTransport(world, rank), monitor_(world.board, rank, seconds) {}

 private:
  Monitor monitor_;
};

}  // namespace

Expected<std::unique_ptr<Transport>> process_transport(const WatchdogOptions& watchdog) {
  HEDDLE_TRY(const int rank, number_in(kRankVariable));
  HEDDLE_TRY(const int ranks, number_in(kRanksVariable));
  HEDDLE_TRY(const int file, number_in(kBoardVariable));
  if (rank >= ranks) return reason("{}={} of {} ranks", kRankVariable, rank, ranks);
  HEDDLE_TRY(BoardMemory memory, map_board(file, ranks));
  auto board = std::make_shared<Board>(std::move(memory), ranks, false);
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // lets the other ranks read buffers
  const SharedWorld world{board, std::make_shared<ProcessMemory>(board), watchdog, "processes",
                          std::make_shared<Rooms>(file)};
  return std::unique_ptr<Transport>(
      std::make_unique<ProcessTransport>(world, rank, watchdog.seconds));
}

}  // namespace heddle::comm
