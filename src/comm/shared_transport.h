// Ranks that see each other's memory: threads of one process, or processes of one machine. Every
// rank says where its buffers are and reads those of the others; nothing is staged.
#pragma once

#include <array>
#include <deque>
#include <memory>

#include "comm/group.h"
#include "comm/memory.h"
#include "comm/progress.h"
#include "comm/rooms.h"
#include "heddle/transport.h"

namespace heddle::comm {

struct SharedWorld {
  std::shared_ptr<Board> board;
  std::shared_ptr<PeerMemory> memory;
  WatchdogOptions watchdog;
  std::string name;
  std::shared_ptr<Rooms> rooms = std::make_shared<Rooms>();
};

class SharedTransport : public Transport {
 public:
  SharedTransport(SharedWorld world, int rank);
  ~SharedTransport() override;

  std::string_view name() const override { return world_.name; }
  int rank() const override { return rank_; }
  int size() const override { return world_.board->ranks(); }
  Expected<GroupId> group(std::span<const int> ranks, std::int64_t channel) override;
  const std::vector<int>& members(GroupId group) const override { return groups_.at(group).ranks; }
  Expected<RequestId> start(const Collective& collective) override;
  Expected<bool> test(RequestId request) override;
  Verdict wait(RequestId request) override;
  void abort(std::string_view why) override;
  std::string failure() const override { return world_.board->failure(); }
  void go_on_meanwhile(RequestId request) override { progress_.look_after(request); }
  void forget_requests() override { progress_.forget(); }
  Expected<std::byte*> shared_room(GroupId group, std::int64_t bytes) override;
  Verdict wait_until(std::span<const int> ranks, const std::function<bool()>& there,
                     std::string_view what) override;
  void enter() override;
  void leave() override;

 private:
  // A collective under way.
  struct Pending {
    Collective collective;
    std::uint64_t number = 0;  // in its group
    std::uint64_t count = 0;   // among all of this rank
    int stage = 0;             // what has been done of it
    std::string what;
    std::vector<std::byte> small;  // a result that waits until all have read the inputs
  };
  struct LocalGroup {
    GroupRecord* record = nullptr;
    std::vector<int> ranks;
    std::vector<std::size_t> order;  // places by growing rank: sums are taken so
    std::size_t me = 0;
    std::uint64_t started = 0, finished = 0;
    std::deque<Pending> pending;
    std::array<bool, kDepth> barrier = {};  // by place of a post: what was there last

    MemberCell& cell(std::size_t place) { return record->cells()[place]; }
    const Post& post(std::size_t place, std::uint64_t number) {
      return cell(place).posts[number % kDepth];
    }
  };
  enum class Until { posted, halfway, done };

  // ---- shared_transport.cpp
  Expected<bool> advance(RequestId request, bool wait);
  Expected<bool> advance(LocalGroup& group, std::uint64_t number, bool wait);
  Expected<bool> advance_front(LocalGroup& group, bool wait);
  Expected<bool> all_have(LocalGroup& group, const Pending& op, Until until, bool wait);
  bool is_missing(LocalGroup& group, const Pending& op, std::size_t place, Until until) const;
  bool takes_part(const Pending& op, std::size_t place, Until until) const;
  Verdict await(LocalGroup& group, const Pending& op, Until until);
  Verdict free_post(LocalGroup& group, std::uint64_t number);
  Verdict check_peers(LocalGroup& group, const Pending& op, Until until, double waited);
  Reason ended(const Pending& op) const;
  Reason work_failed(const LocalGroup& group, const Pending& op, const std::string& why);
  void say(LocalGroup& group, std::atomic<std::uint64_t>& counter, std::uint64_t number);
  Verdict check_posts(LocalGroup& group, const Pending& op);

  // ---- shared_collectives.cpp: what a rank does once all are there
  Verdict begin_work(LocalGroup& group, Pending& op, bool& in_two);
  Verdict finish_work(LocalGroup& group, Pending& op);
  Verdict reduce_range(LocalGroup& group, const Pending& op, const Runs& range, std::byte* to);
  Verdict gather_reduced(LocalGroup& group, const Pending& op);
  Verdict reduce_small(LocalGroup& group, Pending& op);
  // Whether nobody reads this rank's buffers any more once it has done its work.
  static bool is_over_early(const Collective& collective);
  Verdict copy_from(LocalGroup& group, const Pending& op, std::size_t place, const Runs& source,
                    const Runs& target);
  Verdict run_exchange(LocalGroup& group, const Pending& op);
  Verdict combine_from(LocalGroup& group, const Pending& op);

  SharedWorld world_;
  int rank_;
  RankCell* cell_;
  std::deque<LocalGroup> groups_;
  std::uint64_t collectives_ = 0;
  int spins_ = 0;
  std::unique_ptr<std::byte[]> scratch_;  // for reductions of memory that is not direct
  Stillness stillness_;
  Progress progress_{[this](RequestId request) { return advance(request, false); }};
};

}  // namespace heddle::comm
