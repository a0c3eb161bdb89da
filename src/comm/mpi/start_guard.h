// Looks after a rank while MPI starts: MPI itself waits for ever for a rank that does not come.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heddle::comm {

// What a rank leaves the others to say why they end, before it ends all.
inline constexpr std::chrono::milliseconds kToSpeak{600};

// From its making to its end the start of MPI has ten times the watchdog's time, twenty where there
// are several machines. Then, or where a rank of this machine starts and is stopped for half of the
// watchdog's time, the process says which ranks have not joined, and ends with an error.
class StartGuard {
 public:
  explicit StartGuard(double watchdog);
  ~StartGuard();
  StartGuard(const StartGuard&) = delete;
  StartGuard& operator=(const StartGuard&) = delete;

 private:
  void look();
  void find_ranks();
  std::string stopped_rank();
  std::string missing_ranks() const;
  [[noreturn]] void give_up(const std::string& why) const;

  const double watchdog_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  int rank_ = -1, size_ = 0;
  bool all_here_ = false;  // on this machine
  std::string job_;        // the same for all ranks, and for no other run; empty: not known
  int sign_ = -1;          // a socket with the name of this rank, gone with the process
  struct Seen {
    int pid = 0;      // where it starts on this machine
    int stopped = 0;  // looks that have found it so, the last ones
  };
  std::vector<Seen> ranks_;
  std::mutex mutex_;
  std::condition_variable change_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace heddle::comm
