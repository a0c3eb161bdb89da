#include "comm/shared_transport.h"

#include <algorithm>
#include <thread>

#include "comm/combine.h"

namespace heddle::comm {

namespace {

// How often a rank looks before it sleeps. Where there are more ranks than cores, looking only
// keeps others from coming; the one that is waited for may also be waiting for this very core, so
// that it is given up every few microseconds.
constexpr int kSpins = 20'000, kSpinsInARow = 256;
constexpr int kYields = 50;
constexpr int kGroupBits = 24;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

std::int64_t agreed_bytes(const Collective& c) {
  switch (c.kind) {
    case CollectiveKind::exchange:
    case CollectiveKind::barrier:
      return -1;
    default:
      return c.in_pieces.bytes();
  }
}

std::uint32_t agreed_kind(const Collective& c) {
  const bool reduces =
      c.kind == CollectiveKind::all_reduce || c.kind == CollectiveKind::reduce_scatter;
  const auto kind = static_cast<std::uint32_t>(c.kind);
  if (!reduces) return kind;
  return kind | static_cast<std::uint32_t>(c.dtype) << 8 |
         static_cast<std::uint32_t>(c.reduce) << 16;
}

std::string kind_text(std::uint32_t kind, std::int64_t bytes) {
  std::string text(op_name(static_cast<CollectiveKind>(kind & 0xff)));
  if (bytes >= 0) text += fmt::format(" of {} bytes", bytes);
  if (kind >> 8 != 0)
    text += fmt::format(" ({} of {})", name(static_cast<ReduceOp>(kind >> 16)),
                        name(static_cast<DType>(kind >> 8 & 0xff)));
  return text;
}

bool is_transfer(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive;
}

}  // namespace

SharedTransport::SharedTransport(SharedWorld world, int rank)
    : world_(std::move(world)), rank_(rank), cell_(&world_.board->cell(rank)) {
  step_ = &cell_->step;
  moves_ = &cell_->moves;
  failed_ = &world_.board->header().failed;
  cell_->phase = Phase::resting;
  spins_ = size() <= static_cast<int>(std::thread::hardware_concurrency()) ? kSpins : 0;
}

SharedTransport::~SharedTransport() { cell_->phase = Phase::ended; }

void SharedTransport::enter() {
  cell_->phase = Phase::running;
  at_step(0);
}
void SharedTransport::leave() { cell_->phase = Phase::resting; }

Expected<GroupId> SharedTransport::group(std::span<const int> ranks, std::int64_t channel) {
  const std::lock_guard lock(progress_.mutex());
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].record->channel == channel && std::ranges::equal(groups_[g].ranks, ranks))
      return static_cast<GroupId>(g);
  LocalGroup made;
  made.ranks.assign(ranks.begin(), ranks.end());
  const auto place = std::ranges::find(made.ranks, rank_);
  if (place == made.ranks.end()) return reason("rank {} is not in the group", rank_);
  made.me = static_cast<std::size_t>(place - made.ranks.begin());
  for (std::size_t i = 0; i < made.ranks.size(); ++i) {
    if (made.ranks[i] < 0 || made.ranks[i] >= size())
      return reason("the group has rank {}, but there are {} ranks", made.ranks[i], size());
    made.order.push_back(i);
  }
  std::ranges::sort(made.order, {}, [&](std::size_t i) { return made.ranks[i]; });
  HEDDLE_TRY(made.record, find_group(*world_.board, ranks, channel));
  groups_.push_back(std::move(made));
  return static_cast<GroupId>(groups_.size() - 1);
}

Expected<RequestId> SharedTransport::start(const Collective& collective) {
  const std::lock_guard lock(progress_.mutex());
  LocalGroup& group = groups_.at(collective.group);
  const std::uint64_t number = group.started + 1;
  if (number > kDepth) HEDDLE_TRY_VOID(free_post(group, number));
  group.barrier[number % kDepth] = collective.kind == CollectiveKind::barrier;
  group.started = number;
  Pending op{collective, number, ++collectives_, 0, std::string(collective.what), {}};
  op.collective.what = {};
  if (failed()) return ended(op);
  cell_->collectives.store(collectives_, std::memory_order_relaxed);
  MemberCell& mine = group.cell(group.me);
  if (collective.kind != CollectiveKind::receive) {
    mine.posts[number % kDepth] = {agreed_kind(collective), agreed_bytes(collective), collective.in,
                                   collective.out, collective.sends.data()};
    say(group, mine.posted, number);
  }
  group.pending.push_back(std::move(op));
  return RequestId{collective.group} | number << kGroupBits;
}

// The place of an earlier one is free when everybody has read it. A barrier is over when all have
// come to it: they may look at it later.
Verdict SharedTransport::free_post(LocalGroup& group, std::uint64_t number) {
  HEDDLE_TRY_VOID(advance(group, number - kDepth, true));
  if (!group.barrier[number % kDepth]) return yes();
  Pending barrier;
  barrier.number = number - kDepth;
  HEDDLE_TRY_VOID(all_have(group, barrier, Until::done, true));
  return yes();
}

Expected<bool> SharedTransport::test(RequestId request) {
  const std::lock_guard lock(progress_.mutex());
  return advance(request, false);
}

Verdict SharedTransport::wait(RequestId request) {
  const std::lock_guard lock(progress_.mutex());
  HEDDLE_TRY_VOID(advance(request, true));
  return yes();
}

Expected<std::byte*> SharedTransport::shared_room(GroupId group, std::int64_t bytes) {
  const std::lock_guard lock(progress_.mutex());
  return world_.rooms->room(*world_.board, *groups_.at(group).record, bytes);
}

Verdict SharedTransport::wait_until(std::span<const int> ranks, const std::function<bool()>& there,
                                    std::string_view what) {
  return wait_on_board({*world_.board, *cell_, stillness_, world_.watchdog.seconds, spins_}, ranks,
                       there, what);
}

void SharedTransport::abort(std::string_view why) {
  world_.board->fail(
      fmt::format("rank {} of {} failed in step {}: {}", rank_, size(), cell_->step.load(), why));
}

// ---- progress

Expected<bool> SharedTransport::advance(RequestId request, bool wait) {
  return advance(groups_.at(request & ((1u << kGroupBits) - 1)), request >> kGroupBits, wait);
}

Expected<bool> SharedTransport::advance(LocalGroup& group, std::uint64_t number, bool wait) {
  while (group.finished < number) {
    HEDDLE_TRY(const bool over, advance_front(group, wait));
    if (!over) return false;
  }
  return true;
}

// Stages: 0 posted; 1 first half of the work done, 2 the rest; then all others have to be done.
Expected<bool> SharedTransport::advance_front(LocalGroup& group, bool wait) {
  Pending& op = group.pending.front();
  MemberCell& mine = group.cell(group.me);
  if (op.stage == 0) {
    HEDDLE_TRY(const bool there, all_have(group, op, Until::posted, wait));
    if (!there) return false;
    bool in_two = false;
    HEDDLE_TRY_VOID(check_posts(group, op));
    if (const Verdict done = begin_work(group, op, in_two); !done)
      return work_failed(group, op, done.reason());
    op.stage = in_two ? 1 : 2;
    if (in_two) say(group, mine.halfway, op.number);
    if (!in_two && op.collective.kind != CollectiveKind::send) say(group, mine.done, op.number);
  }
  if (op.stage == 1) {
    HEDDLE_TRY(const bool there, all_have(group, op, Until::halfway, wait));
    if (!there) return false;
    if (const Verdict done = finish_work(group, op); !done)
      return work_failed(group, op, done.reason());
    op.stage = 2;
    say(group, mine.done, op.number);
  }
  if (!is_over_early(op.collective)) {
    HEDDLE_TRY(const bool over, all_have(group, op, Until::done, wait));
    if (!over) return false;
  }
  group.finished = op.number;
  group.pending.pop_front();
  return true;
}

bool SharedTransport::takes_part(const Pending& op, std::size_t place, Until until) const {
  if (!is_transfer(op.collective.kind)) return true;
  const bool sends = op.collective.kind == CollectiveKind::send;
  if (until == Until::posted)
    return !sends && place == static_cast<std::size_t>(op.collective.from);
  return sends && until == Until::done && place == static_cast<std::size_t>(op.collective.to);
}

bool SharedTransport::is_missing(LocalGroup& group, const Pending& op, std::size_t place,
                                 Until until) const {
  if (!takes_part(op, place, until)) return false;
  const MemberCell& cell = group.cell(place);
  const auto& counter = until == Until::posted    ? cell.posted
                        : until == Until::halfway ? cell.halfway
                                                  : cell.done;
  return counter.load(std::memory_order_acquire) < op.number;
}

Expected<bool> SharedTransport::all_have(LocalGroup& group, const Pending& op, Until until,
                                         bool wait) {
  const auto there = [&] {
    for (std::size_t i = 0; i < group.ranks.size(); ++i)
      if (is_missing(group, op, i, until)) return false;
    return true;
  };
  for (int i = 0; !there(); ++i) {
    if (!wait) {
      if (failed()) return ended(op);
      return false;
    }
    if (i < spins_ && i % kSpinsInARow != kSpinsInARow - 1) {
      pause_briefly();
    } else if (i < spins_ + kYields) {
      std::this_thread::yield();
    } else {
      HEDDLE_TRY_VOID(await(group, op, until));
    }
  }
  return true;
}

Verdict SharedTransport::await(LocalGroup& group, const Pending& op, Until until) {
  const auto since = std::chrono::steady_clock::now();
  cell_->phase = Phase::waiting;
  moves_->fetch_add(1, std::memory_order_relaxed);
  const auto missing = [&] {
    for (std::size_t i = 0; i < group.ranks.size(); ++i)
      if (is_missing(group, op, i, until)) return true;
    return false;
  };
  Verdict verdict = yes();
  while (verdict) {
    group.record->sleepers.fetch_add(1);
    const std::uint32_t seen = group.record->events.load();
    const bool sleep = missing();
    if (sleep) await_news(*group.record, seen);
    group.record->sleepers.fetch_sub(1);
    if (!sleep || !missing()) break;
    const auto waited = std::chrono::steady_clock::now() - since;
    verdict = check_peers(group, op, until, std::chrono::duration<double>(waited).count());
  }
  cell_->phase = Phase::running;
  moves_->fetch_add(1, std::memory_order_relaxed);
  return verdict;
}

// Whether those that are missing can still come.
Verdict SharedTransport::check_peers(LocalGroup& group, const Pending& op, Until until,
                                     double waited) {
  Board& board = *world_.board;
  const std::string where = fmt::format("{} {}{}", op_name(op.collective.kind), op.count,
                                        op.what.empty() ? "" : " (" + op.what + ")");
  for (std::size_t i = 0; i < group.ranks.size() && !board.failed(); ++i) {
    if (!is_missing(group, op, i, until)) continue;
    const int peer = group.ranks[i];
    std::string trouble = board.trouble_of(peer);
    if (trouble.empty() && board.cell(peer).phase.load() == Phase::ended)
      trouble = "it has ended its part of the run";
    if (!trouble.empty() && is_missing(group, op, i, until))
      board.fail(fmt::format("rank {} of {} has not reached {} for {:.1f} s; {}", peer, size(),
                             where, waited, trouble));
  }
  if (!board.failed() && stillness_.all_stuck(board, world_.watchdog.seconds)) {
    std::string names;
    for (std::size_t i = 0; i < group.ranks.size(); ++i)
      if (is_missing(group, op, i, until))
        names += fmt::format("{}{}", names.empty() ? "" : ", ", group.ranks[i]);
    board.fail_still(names, where, waited);
  }
  return board.failed() ? Verdict(ended(op)) : yes();
}

// Memory that cannot be read is most often that of a process which has just died.
Reason SharedTransport::work_failed(const LocalGroup& group, const Pending& op,
                                    const std::string& why) {
  // It loses its memory first and is seen to be gone a moment later.
  const int looks = world_.memory->direct() ? 0 : 50;
  for (int i = 0; i < looks * static_cast<int>(group.ranks.size()) && !failed(); ++i) {
    const int peer = group.ranks[static_cast<std::size_t>(i) % group.ranks.size()];
    if (i % static_cast<int>(group.ranks.size()) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (const std::string trouble = world_.board->trouble_of(peer); !trouble.empty())
      world_.board->lose(peer, trouble);
  }
  if (failed()) return ended(op);
  return reason("{}\n  rank {} was in {} {}{}", why, rank_, op_name(op.collective.kind), op.count,
                op.what.empty() ? "" : ", " + op.what);
}

Reason SharedTransport::ended(const Pending& op) const {
  return reason("{}\n  rank {} was in {} {}{}", world_.board->failure(), rank_,
                op_name(op.collective.kind), op.count, op.what.empty() ? "" : ", " + op.what);
}

void SharedTransport::say(LocalGroup& group, std::atomic<std::uint64_t>& counter,
                          std::uint64_t number) {
  counter.store(number, std::memory_order_release);
  tell_group(*group.record);
}

Verdict SharedTransport::check_posts(LocalGroup& group, const Pending& op) {
  const std::uint32_t kind = agreed_kind(op.collective);
  const std::int64_t bytes = agreed_bytes(op.collective);
  if (is_transfer(op.collective.kind)) {
    if (op.collective.kind == CollectiveKind::send) return yes();
    const Post& its = group.post(static_cast<std::size_t>(op.collective.from), op.number);
    if (its.bytes == bytes) return yes();
    return reason("rank {} sends {} bytes where rank {} expects {}",
                  group.ranks[static_cast<std::size_t>(op.collective.from)], its.bytes, rank_,
                  bytes);
  }
  for (std::size_t i = 0; i < group.ranks.size(); ++i) {
    const Post& its = group.post(i, op.number);
    if (its.kind == kind && its.bytes == bytes) continue;
    return reason("rank {} came to {} where rank {} is in {}: all ranks must run the same program",
                  group.ranks[i], kind_text(its.kind, its.bytes), rank_, kind_text(kind, bytes));
  }
  return yes();
}

}  // namespace heddle::comm
