// Ranks that are processes of MPI. Collectives are made of messages, so that sums keep the order of
// the ranks and a rank that waits can look after the others.
#pragma once

#include <deque>
#include <memory>

#include "comm/monitor.h"
#include "comm/mpi/shim.h"
#include "comm/progress.h"
#include "heddle/block.h"
#include "heddle/transport.h"

namespace heddle::comm {

Expected<std::unique_ptr<Transport>> mpi_transport(const WatchdogOptions& watchdog);

class MpiTransport : public Transport {
 public:
  MpiTransport(const HeddleMpi& mpi, std::shared_ptr<Board> board, const WatchdogOptions& watchdog);
  ~MpiTransport() override;

  std::string_view name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Expected<GroupId> group(std::span<const int> ranks, std::int64_t channel) override;
  const std::vector<int>& members(GroupId group) const override { return groups_.at(group).ranks; }
  Expected<RequestId> start(const Collective& collective) override;
  Expected<bool> test(RequestId request) override;
  Verdict wait(RequestId request) override;
  void abort(std::string_view why) override;
  std::string failure() const override { return board_->failure(); }
  void go_on_meanwhile(RequestId request) override { progress_.look_after(request); }
  void forget_requests() override { progress_.forget(); }
  Verdict wait_until(std::span<const int> ranks, const std::function<bool()>& there,
                     std::string_view what) override;
  void enter() override;
  void leave() override;

 private:
  struct Group {
    std::vector<int> ranks;
    std::vector<std::size_t> order;  // places by growing rank
    std::size_t me = 0;
    std::int64_t channel = 0;
    std::uint64_t sent = 0, received = 0;  // collectives, or messages each way
    int tag = 0;
  };
  // A collective under way.
  struct Operation {
    Collective collective;
    std::string what;
    std::uint64_t id = 0, number = 0;  // of all, and of its group
    int stage = 0;
    bool over = false;
    bool has_own = false;                                 // the piece of this rank is in its place
    std::vector<std::pair<int, int>> messages = {};       // request, peer
    std::shared_ptr<Block> sending = {}, receiving = {};  // of pages that are kept
  };

  // ---- mpi_transport.cpp
  Expected<bool> advance_to(RequestId request);
  Verdict advance(Operation& op);
  Verdict await(Operation& op);
  Verdict check(Operation& op, double waited, double idle);
  Reason ended(const Operation& op) const;
  Operation* find(RequestId request);
  Verdict send_to(Operation& op, std::size_t place, const std::byte* data, std::int64_t bytes);
  Verdict receive_from(Operation& op, std::size_t place, std::byte* data, std::int64_t bytes);
  int tag_of(const Operation& op) const;

  // ---- mpi_collectives.cpp
  Verdict begin(Operation& op);
  Verdict finish(Operation& op, bool& more);
  bool in_rounds(const Operation& op) const;
  Verdict begin_rounds(Operation& op);
  Verdict start_round(Operation& op);
  void end_rounds(Operation& op);
  Verdict begin_all_reduce(Operation& op);
  Verdict finish_all_reduce(Operation& op, bool& more);
  Verdict begin_all_gather(Operation& op);
  Verdict begin_all_to_all(Operation& op);
  void copy_own(const Operation& op);
  void unpack(Operation& op);
  Verdict begin_exchange(Operation& op);
  void reduce(const Operation& op, const std::byte* mine, std::int64_t bytes, std::byte* to) const;
  const Group& group_of(const Operation& op) const { return groups_[op.collective.group]; }

  const HeddleMpi& mpi_;
  std::shared_ptr<Board> board_;
  const WatchdogOptions watchdog_;
  int rank_, size_, spins_;
  RankCell* cell_;
  std::deque<Group> groups_;
  std::deque<Operation> operations_;  // under way, in the order of their start
  std::uint64_t started_ = 0;
  Stillness stillness_;
  std::unique_ptr<Monitor> monitor_;
  Progress progress_{[this](RequestId request) { return advance_to(request); }};
};

}  // namespace heddle::comm
