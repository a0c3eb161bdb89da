// The board: memory that all ranks of one machine see. Each writes where it is; anybody may write
// why the run is over. Plain memory between threads, a shared mapping between processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.h"

namespace heddle::comm {

enum class Phase : std::uint32_t {
  absent,   // has not come yet
  resting,  // between runs
  running,  // between collectives
  waiting,  // in a collective, for others
  ended,    // has gone in order
};

// One rank. Only its owner writes, but for `child` and `exit_status`, which a launcher fills.
struct alignas(128) RankCell {
  std::atomic<std::int64_t> pid;    // once it has joined
  std::atomic<std::int64_t> child;  // what a launcher has started for it; 0: not known
  std::atomic<std::uint64_t> beat;  // grows while the process runs
  std::atomic<std::uint64_t> cpu;   // nanoseconds that the process has computed
  std::atomic<Phase> phase;
  std::atomic<std::uint64_t> step;         // of its program
  std::atomic<std::uint64_t> moves;        // grows with everything that it does
  std::atomic<std::uint64_t> collectives;  // that it has begun
  std::atomic<std::int32_t> exit_status;   // as wait() gives it, plus 1; 0: not known
  std::atomic<std::uint32_t> reads;        // whether it is about to read others' buffers, or does
};

struct BoardHeader {
  std::uint64_t magic;
  std::int32_t ranks;
  std::atomic<std::int64_t> launcher;  // its process; 0: none that looks after the ranks
  std::atomic<std::uint32_t> failed;   // 0: no, 1: being written, 2: `failure` says why
  char failure[2000];
  std::atomic<std::uint32_t> lock;  // of the list of groups
  std::atomic<std::uint64_t> used;  // bytes of the area for groups
  std::uint64_t first_group, room;
};

// Whether a process of this machine has been stopped by a signal, or a debugger.
bool process_is_stopped(std::int64_t pid);

// Where the board lies, and how long.
struct BoardMemory {
  std::shared_ptr<std::byte> data;  // zeroed when it was made
  std::size_t bytes = 0;
};
std::size_t board_bytes(int ranks);
BoardMemory private_board(int ranks);
// A file without a name, for processes that inherit it; or a file of this name in memory.
Expected<int> create_board_file(int ranks);
Expected<BoardMemory> map_board(int file, int ranks);

class Board {
 public:
  // `fresh`: nobody has written to the memory yet.
  Board(BoardMemory memory, int ranks, bool fresh);

  int ranks() const { return ranks_; }
  BoardHeader& header() { return *header_; }
  const BoardHeader& header() const { return *header_; }
  RankCell& cell(int rank) { return cells_[rank]; }
  const RankCell& cell(int rank) const { return cells_[rank]; }
  // The area for groups.
  std::byte* area() { return area_; }

  bool failed() const { return header_->failed.load(std::memory_order_acquire) != 0; }
  // The first reason counts.
  void fail(std::string_view why);
  std::string failure() const;

  // What of a rank's process can be seen: empty where it runs, else "its process is gone".
  std::string trouble_of(int rank) const;
  // Whether its process has been stopped, be it before it has joined.
  bool is_stopped(int rank) const;
  bool launcher_is_gone() const;

  // The run is over because a rank is lost.
  void lose(int rank, std::string_view why);
  // The run is over because no rank moves: one that is stopped or has not joined is named, else
  // those that `where` waits for.
  void fail_still(std::string_view missing, std::string_view where, double waited);

 private:
  BoardMemory memory_;
  int ranks_;
  BoardHeader* header_;
  RankCell* cells_;
  std::byte* area_;
};

// Whether ranks have stood still for the time allowed. One per rank that looks.
class Stillness {
 public:
  // True where no rank has moved for a third more than `seconds`, and none of them has computed:
  // all wait, or are over. A rank that has not come, or is a process between runs, has ten times
  // `seconds`: it may read files.
  bool all_stuck(const Board& board, double seconds);

 private:
  std::uint64_t sum_ = 0;
  double still_ = 0;  // seconds
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

}  // namespace heddle::comm
