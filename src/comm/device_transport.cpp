#include "comm/device_transport.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "comm/memory.h"
#include "comm/share.h"
#include "device/moves.h"
#include "heddle/device.h"

namespace heddle::comm {

namespace {

constexpr RequestId kByDevice = RequestId{1} << 62;  // of requests that the device does

// Events that ranks hand to each other, by number: one that has gone on may end its own before
// another has looked.
class HandedEvents {
 public:
  // For so many who will take it.
  std::uint64_t give(Event event, std::size_t takers) {
    const std::lock_guard lock(mutex_);
    events_.emplace(++last_, Handed{std::move(event), takers});
    return last_;
  }
  Event take(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(number);
    HEDDLE_CHECK(found != events_.end(), "nobody has given event {}", number);
    if (--found->second.takers > 0) return found->second.event;
    return std::move(events_.extract(found).mapped().event);
  }

 private:
  struct Handed {
    Event event;
    std::size_t takers;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Handed> events_;
  std::uint64_t last_ = 0;
};

// Where a rank's buffers are, and when its operand is there.
struct DevicePost {
  std::uint64_t in = 0, out = 0, ready = 0;
};

class DeviceTransport final : public Transport {
 public:
  DeviceTransport(std::unique_ptr<Transport> ranks, std::shared_ptr<HandedEvents> events)
      : ranks_(std::move(ranks)), events_(std::move(events)) {
    take_signs_of(*ranks_);
  }
  ~DeviceTransport() override {
    if (side_) (void)side_->finish();
  }
  DeviceTransport(const DeviceTransport&) = delete;
  DeviceTransport& operator=(const DeviceTransport&) = delete;

  // ---- as the ranks have it
  std::string_view name() const override { return ranks_->name(); }
  int rank() const override { return ranks_->rank(); }
  int size() const override { return ranks_->size(); }
  Expected<GroupId> group(std::span<const int> ranks, std::int64_t channel) override {
    return ranks_->group(ranks, channel);
  }
  const std::vector<int>& members(GroupId group) const override { return ranks_->members(group); }
  Expected<RequestId> start(const Collective& c) override { return ranks_->start(c); }
  Expected<bool> test(RequestId request) override {
    return ranks_->test(is_ours(request) ? under_way_.at(request)->meeting : request);
  }
  Verdict wait(RequestId request) override {
    if (!is_ours(request)) return ranks_->wait(request);
    HEDDLE_TRY_VOID(wait_on(*side_, request));
    return side_->finish();
  }
  void go_on_meanwhile(RequestId request) override {
    if (!is_ours(request)) ranks_->go_on_meanwhile(request);
  }
  void forget_requests() override {
    ranks_->forget_requests();
    under_way_.clear();
  }
  void abort(std::string_view why) override { ranks_->abort(why); }
  std::string failure() const override { return ranks_->failure(); }
  Expected<std::byte*> shared_room(GroupId group, std::int64_t bytes) override {
    return ranks_->shared_room(group, bytes);
  }
  Verdict wait_until(std::span<const int> ranks, const std::function<bool()>& there,
                     std::string_view what) override {
    return ranks_->wait_until(ranks, there, what);
  }
  void enter() override { ranks_->enter(); }
  void leave() override { ranks_->leave(); }

  // ---- on the device
  // Says where the buffers are; the work itself is put on a queue of its own when all have said so,
  // which costs nothing: the host is far ahead of the device.
  Expected<RequestId> start_on(Queue& queue, Collective c, DeviceAddress in,
                               DeviceAddress out) override {
    if (!is_for_device(queue, c)) return ranks_->start_on(queue, c, in, out);
    if (!side_ || &side_->device() != &queue.device()) side_ = queue.device().queue();
    const std::size_t members = ranks_->members(c.group).size();
    auto made = std::make_unique<UnderWay>();
    made->collective = c;
    made->posts.resize(members);
    made->mine = {in.value, out.value, events_->give(queue.record(), members)};
    HEDDLE_TRY(made->meeting, ranks_->start(gather(c, &made->mine, made->posts.data())));
    const RequestId request = kByDevice | ++last_;
    under_way_.emplace(request, std::move(made));
    return request;
  }

  bool shares_device(Queue& queue) const override {
    return dynamic_cast<const DeviceMoves*>(&queue) != nullptr;
  }
  Verdict together(Queue& queue, GroupId group, std::span<const std::uint64_t> mine,
                   const StartTogether& start, std::string_view what) override {
    if (!side_ || &side_->device() != &queue.device()) side_ = queue.device().queue();
    const std::size_t members = ranks_->members(group).size(), words = mine.size() + 1;
    std::vector<std::uint64_t> given(mine.begin(), mine.end()), all(words * members);
    given.push_back(events_->give(queue.record(), members));
    Collective c{.kind = CollectiveKind::all_gather, .group = group};
    c.in = reinterpret_cast<const std::byte*>(given.data());
    c.out = reinterpret_cast<std::byte*>(all.data());
    c.in_pieces = c.out_pieces = {1, static_cast<std::int64_t>(words * sizeof(std::uint64_t))};
    c.what = what;
    HEDDLE_TRY_VOID(run_collective(*ranks_, c));
    std::vector<std::uint64_t> of_all;
    for (std::size_t m = 0; m < members; ++m) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(m * words);
      of_all.insert(of_all.end(), begin, begin + static_cast<std::ptrdiff_t>(mine.size()));
      HEDDLE_TRY_VOID(side_->wait(events_->take(begin[static_cast<std::ptrdiff_t>(mine.size())])));
    }
    if (place_in(group) == 0) HEDDLE_TRY_VOID(start(*side_, of_all));
    HEDDLE_TRY(const auto done, meet(c));
    return queue.wait(done[0]);
  }

  Verdict wait_on(Queue& queue, RequestId request) override {
    if (!is_ours(request)) return ranks_->wait_on(queue, request);
    const auto work = std::move(under_way_.extract(request).mapped());
    HEDDLE_TRY_VOID(ranks_->wait(work->meeting));
    for (const DevicePost& post : work->posts)
      HEDDLE_TRY_VOID(side_->wait(events_->take(post.ready)));
    HEDDLE_TRY_VOID(put(*work));
    // Nobody writes over an operand that another still reads.
    HEDDLE_TRY(const auto done, meet(work->collective));
    for (const Event& event : done) HEDDLE_TRY_VOID(queue.wait(event));
    return yes();
  }

 private:
  struct UnderWay {
    Collective collective;
    DevicePost mine;
    std::vector<DevicePost> posts;  // by place in the group
    RequestId meeting = 0;
  };

  static bool is_ours(RequestId request) { return (request & kByDevice) != 0; }

  // The same answer for all members: they run the same program on the same device.
  bool is_for_device(Queue& queue, const Collective& c) const {
    const auto* moves = dynamic_cast<const DeviceMoves*>(&queue);
    if (moves == nullptr) return false;
    switch (c.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter:
        return moves->can_combine(c.reduce, c.dtype, ranks_->members(c.group).size());
      case CollectiveKind::all_gather:
      case CollectiveKind::all_to_all:
      case CollectiveKind::permute:
      case CollectiveKind::broadcast:
        return true;
      default:
        return false;
    }
  }

  template <typename T>
  static Collective gather(const Collective& c, const T* mine, T* all) {
    Collective made{.kind = CollectiveKind::all_gather, .group = c.group};
    made.in = reinterpret_cast<const std::byte*>(mine);
    made.out = reinterpret_cast<std::byte*>(all);
    made.in_pieces = made.out_pieces = {1, sizeof(T)};
    made.what = c.what;
    return made;
  }

  // An event of each member: all that it has put on its queue by now.
  Expected<std::vector<Event>> meet(const Collective& c) {
    const std::size_t members = ranks_->members(c.group).size();
    const std::uint64_t mine = events_->give(side_->record(), members);
    std::vector<std::uint64_t> all(members);
    HEDDLE_TRY_VOID(run_collective(*ranks_, gather(c, &mine, all.data())));
    std::vector<Event> events;
    for (std::uint64_t number : all) events.push_back(events_->take(number));
    return events;
  }

  // ---- what a rank does once it knows where all buffers are

  Verdict put(const UnderWay& work) {
    const Collective& c = work.collective;
    const auto members = static_cast<std::int64_t>(work.posts.size());
    const std::int64_t me = place_in(c.group);
    const std::int64_t bytes = c.in_pieces.bytes();
    switch (c.kind) {
      case CollectiveKind::all_reduce:
        return all_reduce(work, me);
      case CollectiveKind::reduce_scatter:
        return reduce(work, piece_of(c.in_pieces, me, members), {work.mine.out});
      case CollectiveKind::all_gather:
        for (std::int64_t m = 0; m < members; ++m)
          HEDDLE_TRY_VOID(copy(work, m, dense(bytes), piece_of(c.out_pieces, m, members)));
        return yes();
      case CollectiveKind::all_to_all:
        for (std::int64_t m = 0; m < members; ++m)
          HEDDLE_TRY_VOID(copy(work, m, piece_of(c.in_pieces, me, members),
                               piece_of(c.out_pieces, m, members)));
        return yes();
      default:
        if (c.from < 0) return side_->zero({work.mine.out}, bytes);
        return copy(work, c.from, dense(bytes), dense(bytes));
    }
  }

  // Each takes a share of all operands, which nobody else touches, and then the shares of others.
  Verdict all_reduce(const UnderWay& work, std::int64_t me) {
    const std::int64_t bytes = work.collective.in_pieces.bytes();
    const std::size_t members = work.posts.size();
    const Share mine = share_of(bytes, static_cast<std::size_t>(me), members);
    HEDDLE_TRY_VOID(reduce(work, {mine.first, mine.bytes, mine.bytes, 1},
                           DeviceAddress{work.mine.out} + mine.first));
    HEDDLE_TRY(const auto reduced, meet(work.collective));
    for (std::size_t m = 0; m < members; ++m) {
      if (m == static_cast<std::size_t>(me)) continue;
      const Share share = share_of(bytes, m, members);
      HEDDLE_TRY_VOID(side_->wait(reduced[m]));
      HEDDLE_TRY_VOID(side_->copy(DeviceAddress{work.posts[m].out} + share.first,
                                  DeviceAddress{work.mine.out} + share.first, share.bytes));
    }
    return yes();
  }

  // A range of all operands, in the order of the ranks.
  Verdict reduce(const UnderWay& work, const Runs& range, DeviceAddress to) {
    const Collective& c = work.collective;
    const std::int64_t size = byte_size(c.dtype);
    if (range.bytes() == 0) return yes();
    const std::vector<int>& ranks = ranks_->members(c.group);
    std::vector<std::size_t> order(ranks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return ranks[i]; });
    std::vector<DeviceAddress> parts;
    for (std::size_t i : order) parts.push_back(DeviceAddress{work.posts[i].in} + range.first);
    return moves().combine({.op = c.reduce,
                            .dtype = c.dtype,
                            .parts = parts,
                            .out = to,
                            .run = range.run / size,
                            .count = range.count,
                            .step = range.stride / size});
  }

  Verdict copy(const UnderWay& work, std::int64_t from, const Runs& source, const Runs& target) {
    const DeviceAddress in{work.posts[static_cast<std::size_t>(from)].in};
    const DeviceAddress a = in + source.first, b = DeviceAddress{work.mine.out} + target.first;
    if (source.bytes() == 0) return yes();
    if (source.count == 1 && target.count == 1) return side_->copy(a, b, source.run);
    if (source.count > 1 && target.count > 1 && source.run != target.run)
      return copy_uneven(a, source, b, target);
    // A dense side has runs of the other's length.
    const Runs& cut = source.count > 1 ? source : target;
    return moves().copy_runs({.from = a,
                              .to = b,
                              .run = cut.run,
                              .count = cut.count,
                              .from_step = source.count > 1 ? source.stride : cut.run,
                              .to_step = target.count > 1 ? target.stride : cut.run});
  }

  // Both in runs, of different lengths: common parts of them, one by one.
  Verdict copy_uneven(DeviceAddress from, const Runs& source, DeviceAddress to,
                      const Runs& target) {
    const std::int64_t part = std::gcd(source.run, target.run);
    const auto place = [](const Runs& runs, std::int64_t at) {
      return at / runs.run * runs.stride + at % runs.run;
    };
    for (std::int64_t at = 0; at < source.bytes(); at += part)
      HEDDLE_TRY_VOID(side_->copy(from + place(source, at), to + place(target, at), part));
    return yes();
  }

  std::int64_t place_in(GroupId group) const {
    const std::vector<int>& ranks = ranks_->members(group);
    return std::ranges::find(ranks, rank()) - ranks.begin();
  }
  DeviceMoves& moves() { return dynamic_cast<DeviceMoves&>(*side_); }

  std::unique_ptr<Transport> ranks_;
  std::shared_ptr<HandedEvents> events_;
  std::unique_ptr<Queue> side_;  // of the device, made when it is first needed
  std::map<RequestId, std::unique_ptr<UnderWay>> under_way_;
  RequestId last_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> on_shared_device(
    std::vector<std::unique_ptr<Transport>> ranks) {
  const auto events = std::make_shared<HandedEvents>();
  for (auto& one : ranks) one = std::make_unique<DeviceTransport>(std::move(one), events);
  return ranks;
}

}  // namespace heddle::comm
