// Processes of one parallel run and how they meet. Each has a thread, but only one runs at a time
// and hands over where it waits: so runs are deterministic, arrays are shared without races, and a
// deadlock is seen at once, because nobody is left to run.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "ir/eval/eval.h"

namespace heddle {

class ProcessGroup {
 public:
  using Arrays = std::vector<Array>;

  ProcessGroup(std::int64_t replicas, std::int64_t partitions);

  std::int64_t replicas() const { return replicas_; }
  std::int64_t partitions() const { return partitions_; }
  std::int64_t size() const { return replicas_ * partitions_; }
  std::int64_t id_of(const Process& process) const {
    return process.replica * partitions_ + process.partition;
  }

  // Runs `body` in every process; `id` counts partitions fastest. The first failure ends them all.
  Verdict run(const std::function<Verdict(std::int64_t id)>& body);

  // For use inside `body`:

  // Waits until all members have come with the same key; gives what each brought, in the members'
  // order. `what` is how messages call the place: "f.mlir:3:5 [all_reduce]".
  Expected<std::vector<Arrays>> meet(std::int64_t me, const std::vector<std::int64_t>& members,
                                     const std::string& key, const std::string& what, Arrays mine);
  // Leaves arrays for a receiver on the channel; does not wait.
  void send(const std::string& channel, Arrays arrays);
  // Waits for arrays on the channel; first sent, first received.
  Expected<Arrays> receive(std::int64_t me, const std::string& channel, const std::string& what);

  // What stablehlo.infeed takes, one entry each.
  std::deque<Arrays> infeed;

 private:
  enum class State { ready, waiting, done };
  struct Meeting {
    std::vector<std::int64_t> members;
    std::map<std::int64_t, Arrays> brought;
  };
  struct Member {
    State state = State::ready;
    std::string what;                  // it waits in
    std::shared_ptr<Meeting> meeting;  // it waits for; none where it waits for a channel
    std::condition_variable turn;
  };

  std::string name_of(std::int64_t id) const;
  void body_of(std::int64_t id, const std::function<Verdict(std::int64_t)>& body);
  // These hold the lock. `wait` returns when the process is ready again and its turn has come.
  void wait(std::unique_lock<std::mutex>& lock, std::int64_t me);
  void hand_over(std::int64_t from);
  void fail(std::string why);
  std::string deadlock() const;
  std::string missing_from(const Meeting& meeting) const;

  std::int64_t replicas_, partitions_;
  std::mutex mutex_;
  std::deque<Member> members_;  // a deque, since conditions cannot move
  std::int64_t running_ = 0;
  std::string failure_;
  std::exception_ptr defect_;  // an InternalError of ours
  std::map<std::string, std::shared_ptr<Meeting>> meetings_;
  std::map<std::string, std::deque<Arrays>> channels_;
};

}  // namespace heddle
