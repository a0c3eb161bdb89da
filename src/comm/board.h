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

// One rank. Only its owner writes, but for `exit_status`, which a launcher fills.
struct alignas(128) RankCell {
  std::atomic<std::int64_t> pid;
  std::atomic<std::uint64_t> beat;  // grows while the process runs
  std::atomic<std::uint64_t> cpu;   // nanoseconds that the process has computed
  std::atomic<Phase> phase;
  std::atomic<std::uint64_t> step;         // of its program
  std::atomic<std::uint64_t> moves;        // grows with everything that it does
  std::atomic<std::uint64_t> collectives;  // that it has begun
  std::atomic<std::int32_t> exit_status;   // as wait() gives it, plus 1; 0: not known
};

struct BoardHeader {
  std::uint64_t magic;
  std::int32_t ranks;
  std::atomic<std::uint32_t> failed;  // 0: no, 1: being written, 2: `failure` says why
  char failure[2000];
  std::atomic<std::uint32_t> lock;  // of the list of groups
  std::atomic<std::uint64_t> used;  // bytes of the area for groups
  std::uint64_t first_group, room;
};

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
  // Whether its process has been stopped.
  bool is_stopped(int rank) const;

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
  // True where no rank has moved for `seconds`, and none of them has computed: all wait, or are
  // over. A rank between runs may take ten times as long, where it is a process: it may read files.
  bool all_stuck(const Board& board, double seconds);

 private:
  std::uint64_t sum_ = 0;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace heddle::comm
