// The watchdog of a rank that is a process: gives signs of life, and looks for ranks that give
// none.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "comm/board.h"

namespace heddle::comm {

class Monitor {
 public:
  // Looks after the ranks of the board that are processes of this machine. Signals that end the
  // process are held up shortly, so that it can say why the run is over.
  Monitor(std::shared_ptr<Board> board, int rank, double seconds);
  ~Monitor();
  // From now on the process only waits for the others to end: a failure ends it too.
  void is_ending() { ending_ = true; }
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

 private:
  void live();
  void beat();
  void look_at(int peer);
  std::string silence_of(int peer);
  void last_words();

  std::shared_ptr<Board> board_;
  const int rank_;
  const double seconds_;
  struct Seen {
    std::uint64_t beat = 0;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    int ticks = 0;    // of ours, since the beat changed
    int stopped = 0;  // of them the last ones, which have found its process stopped
  };
  std::vector<Seen> seen_;
  std::mutex mutex_;
  std::condition_variable change_;
  bool stopping_ = false;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace heddle::comm
