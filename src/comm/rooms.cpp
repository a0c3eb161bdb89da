#include "comm/rooms.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace heddle::comm {

namespace {

constexpr std::int64_t kPage = 1 << 16;  // of any machine, or more
constexpr int kTurnsInARow = 256, kTurnsGivenUp = 50, kTurnsToLook = 16;
// What a rank that has gone in order has sent before may still be on its way.
constexpr double kToArriveHere = 1;
// Ranks of other machines cannot be seen: they have longer.
constexpr double kFarther = 20;

}  // namespace

Expected<std::byte*> Rooms::room(Board& board, GroupRecord& record, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<std::byte>& room = rooms_[&record];
  if (room) return room.get();
  const std::int64_t whole = (bytes + kPage - 1) / kPage * kPage;
  std::int64_t begin = 0;
  if (file_ >= 0) {
    HEDDLE_TRY(begin, place_of_room(board, record, file_, whole));
  }
  const auto size = static_cast<std::size_t>(whole);
  const int how = file_ >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, how, file_, begin);
  if (data == MAP_FAILED)
    return reason("{} bytes for messages between ranks cannot be had: {}", whole,
                  std::strerror(errno));
  room = {static_cast<std::byte*>(data), [size](std::byte* p) { ::munmap(p, size); }};
  return room.get();
}

Verdict wait_on_board(const BoardWait& waits, std::span<const int> ranks,
                      const std::function<bool()>& there, std::string_view what) {
  Board& board = waits.board;
  using Clock = std::chrono::steady_clock;
  const auto since = Clock::now();
  const auto waited = [&] { return std::chrono::duration<double>(Clock::now() - since).count(); };
  const auto ended = [&] {
    return reason("{}\n  while {}", board.failure(), what.empty() ? "waiting for others" : what);
  };
  const auto look = [&]() -> Verdict {
    std::string names;
    bool remote = false;
    for (const int rank : ranks) {
      const Phase phase = board.cell(rank).phase.load();
      std::string trouble = board.trouble_of(rank);
      if (trouble.empty() && phase == Phase::ended && waited() > kToArriveHere)
        trouble = "it has ended its part of the run";
      remote = remote || phase == Phase::absent;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", rank);
      if (!trouble.empty() && !board.failed() && !there())
        board.fail(fmt::format("rank {} of {} has not reached {} for {:.1f} s; {}", rank,
                               board.ranks(), what, waited(), trouble));
    }
    const bool stuck = !remote && waits.stillness.all_stuck(board, waits.watchdog);
    if (!board.failed() && (stuck || (remote && waited() > kFarther * waits.watchdog)))
      board.fail_still(names, what, waited());
    return board.failed() ? Verdict(ended()) : yes();
  };
  Verdict verdict = yes();
  for (int i = 0; verdict && !there(); ++i) {
    if (i < waits.spins && i % kTurnsInARow != kTurnsInARow - 1) continue;
    if (i < waits.spins + kTurnsGivenUp) {
      std::this_thread::yield();
      continue;
    }
    if (i == waits.spins + kTurnsGivenUp) waits.cell.phase = Phase::waiting;
    std::this_thread::sleep_for(std::chrono::microseconds(waited() < 0.1 ? 20 : 500));
    if (board.failed())
      verdict = ended();
    else if (i % kTurnsToLook == 0)
      verdict = look();
  }
  waits.cell.phase = Phase::running;
  waits.cell.moves.fetch_add(1, std::memory_order_relaxed);
  return verdict;
}

}  // namespace heddle::comm
