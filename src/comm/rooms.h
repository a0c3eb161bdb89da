// Memory that the members of a group share, beside the board: made when somebody first asks.
#pragma once

#include <functional>
#include <mutex>
#include <unordered_map>

#include "comm/group.h"

namespace heddle::comm {

class Rooms {
 public:
  // `file`: the board's, which grows; -1: ranks are threads, and have one Rooms for all.
  explicit Rooms(int file = -1) : file_(file) {}

  // Zeroed; as large as who came first has asked for. A reason where there is no memory.
  Expected<std::byte*> room(Board& board, GroupRecord& record, std::int64_t bytes);

 private:
  const int file_;
  std::mutex mutex_;
  std::unordered_map<const GroupRecord*, std::shared_ptr<std::byte>> rooms_;
};

// Who waits for others, and what it looks at meanwhile.
struct BoardWait {
  Board& board;
  RankCell& cell;
  Stillness& stillness;
  double watchdog = 0;  // seconds
  int spins = 0;
};
// Until `there`; a reason where none of these ranks can bring it about any more. It is called often.
Verdict wait_on_board(const BoardWait& waits, std::span<const int> ranks,
                      const std::function<bool()>& there, std::string_view what);

}  // namespace heddle::comm
