// A link that is slower than this machine's memory, emulated: what travels arrives no earlier than
// it would over a link of so many bytes a second, which carries one thing after the other. Bytes
// move as they always do; only the moment at which they count as arrived is put off.
#pragma once

#include <chrono>
#include <thread>

#include "heddle/transport.h"

namespace heddle::bench {

class EmulatedLink : public Transport {
 public:
  // 0 bytes a second: as fast as it is.
  EmulatedLink(Transport& inner, double bytes_per_second) : inner_(inner), rate_(bytes_per_second) {
    take_signs_of(inner);
  }

  std::string_view name() const override { return inner_.name(); }
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Expected<GroupId> group(std::span<const int> ranks, std::int64_t channel) override {
    return inner_.group(ranks, channel);
  }
  const std::vector<int>& members(GroupId group) const override { return inner_.members(group); }

  Expected<RequestId> start(const Collective& c) override {
    Travel& travel = travels_[++last_];
    travel.bytes = bytes_over_link(c);
    if (rate_ > 0 && travel.bytes > 0) HEDDLE_TRY_VOID(start_stamp(c, travel));
    HEDDLE_TRY(travel.request, inner_.start(c));
    return last_;
  }

  Expected<bool> test(RequestId id) override {
    Travel& travel = travels_.at(id);
    if (travel.is_stamped) {
      HEDDLE_TRY(const bool stamped, inner_.test(travel.stamp));
      if (!stamped) return false;
      read_stamps(travel);
      if (Clock::now() < travel.due) return false;
    }
    HEDDLE_TRY(const bool over, inner_.test(travel.request));
    if (over) travels_.erase(id);
    return over;
  }

  Verdict wait(RequestId id) override {
    Travel& travel = travels_.at(id);
    HEDDLE_TRY_VOID(inner_.wait(travel.request));
    if (travel.is_stamped) {
      HEDDLE_TRY_VOID(inner_.wait(travel.stamp));
      read_stamps(travel);
      sleep_until(travel.due);
    }
    travels_.erase(id);
    return yes();
  }

  void go_on_meanwhile(RequestId id) override { inner_.go_on_meanwhile(travels_.at(id).request); }
  void forget_requests() override { inner_.forget_requests(); }
  void abort(std::string_view why) override { inner_.abort(why); }
  std::string failure() const override { return inner_.failure(); }
  // What travels through memory would not be seen by the link: ranks share none.
  Verdict wait_until(std::span<const int> ranks, const std::function<bool()>& there,
                     std::string_view what) override {
    return inner_.wait_until(ranks, there, what);
  }
  void enter() override { inner_.enter(); }
  void leave() override { inner_.leave(); }

 private:
  using Clock = std::chrono::steady_clock;  // the same for all processes of a machine

  struct Travel {
    double bytes = 0;
    RequestId request = 0, stamp = 0;
    bool is_stamped = false, is_read = false, sends = false;
    std::int64_t mine = 0;
    std::vector<std::int64_t> stamps;  // when each member came; of a message: when it arrives
    Clock::time_point due;
  };

  double bytes_over_link(const Collective& c) const {
    const auto members = static_cast<double>(inner_.members(c.group).size());
    const auto piece = static_cast<double>(c.in_pieces.bytes());
    switch (c.kind) {
      case CollectiveKind::all_reduce:
        return 2 * piece * (members - 1) / members;
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::all_to_all:
        return piece * (members - 1);
      case CollectiveKind::send:
      case CollectiveKind::receive:
      case CollectiveKind::permute:
        return piece;
      default:
        return 0;
    }
  }

  static std::int64_t ticks(Clock::time_point at) { return at.time_since_epoch().count(); }
  Clock::duration time_for(double bytes) const {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(bytes / rate_));
  }

  // A collective begins when the last member has come; a message when the link is free.
  Verdict start_stamp(const Collective& c, Travel& travel) {
    const std::vector<int> ranks = inner_.members(c.group);
    HEDDLE_TRY(const GroupId group, inner_.group(ranks, kStamps + c.group));
    const bool receives = c.kind == CollectiveKind::receive;
    travel.sends = c.kind == CollectiveKind::send;
    travel.is_stamped = true;
    travel.stamps.assign(receives || travel.sends ? 1 : ranks.size(), 0);
    travel.mine = ticks(Clock::now());
    if (travel.sends) {
      free_ = std::max(free_, Clock::now()) + time_for(travel.bytes);
      travel.mine = ticks(free_);
    }
    Collective stamp{.kind = receives || travel.sends ? c.kind : CollectiveKind::all_gather,
                     .group = group};
    stamp.in = receives ? nullptr : reinterpret_cast<const std::byte*>(&travel.mine);
    stamp.out = reinterpret_cast<std::byte*>(travel.stamps.data());
    stamp.in_pieces = stamp.out_pieces = {1, sizeof travel.mine};
    stamp.from = c.from;
    stamp.to = c.to;
    HEDDLE_TRY(travel.stamp, inner_.start(stamp));
    return yes();
  }

  void read_stamps(Travel& travel) {
    if (travel.is_read) return;
    travel.is_read = true;
    if (travel.sends) return;  // the receiver waits
    Clock::time_point last{};
    for (std::int64_t stamp : travel.stamps)
      last = std::max(last, Clock::time_point(Clock::duration(stamp)));
    const bool is_message = travel.stamps.size() == 1 && size() > 1;
    travel.due = is_message ? last : std::max(free_, last) + time_for(travel.bytes);
    if (!is_message) free_ = travel.due;
  }

  static void sleep_until(Clock::time_point due) {
    constexpr auto kLate = std::chrono::microseconds(80);  // that sleepers wake
    if (due - Clock::now() > 2 * kLate) std::this_thread::sleep_until(due - kLate);
    while (Clock::now() < due) std::this_thread::yield();
  }

  static constexpr std::int64_t kStamps = std::int64_t{1} << 40;
  Transport& inner_;
  double rate_;
  Clock::time_point free_{};  // when the link is
  RequestId last_ = 0;
  std::unordered_map<RequestId, Travel> travels_;
};

}  // namespace heddle::bench
