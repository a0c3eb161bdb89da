// Collectives as messages: each member sends what others need of it, right away.
#include <cstring>

#include "comm/combine.h"
#include "comm/memory.h"
#include "comm/mpi/mpi_transport.h"
#include "comm/share.h"
#include "cost/fitted.h"

namespace heddle::comm {

namespace {

constexpr std::int64_t kBlock = std::int64_t{1} << 15;

void copy(const std::byte* from, const Runs& source, std::byte* to, const Runs& target) {
  (void)PeerMemory().copy(0, from, source, to, target);  // plain copies do not fail
}

std::size_t as_size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

// Two send each other all of it: in shares it would be as many bytes, and a meeting more.
bool everyone_reduces_all(std::int64_t bytes, std::size_t members) {
  return members == 2 || bytes <= cost::kSmallReduction;
}

}  // namespace

Verdict MpiTransport::begin(Operation& op) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  const std::int64_t bytes = c.in_pieces.bytes();
  op.stage = 1;
  if (in_rounds(op)) return begin_rounds(op);
  switch (c.kind) {
    case CollectiveKind::barrier:
      for (std::size_t i = 0; i < group.ranks.size(); ++i) {
        if (i == group.me) continue;
        HEDDLE_TRY_VOID(receive_from(op, i, nullptr, 0));
        HEDDLE_TRY_VOID(send_to(op, i, nullptr, 0));
      }
      return yes();
    case CollectiveKind::all_reduce:
      return begin_all_reduce(op);
    case CollectiveKind::all_gather:
      return begin_all_gather(op);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return begin_all_to_all(op);
    case CollectiveKind::exchange:
      return begin_exchange(op);
    case CollectiveKind::send:
      return send_to(op, static_cast<std::size_t>(c.to), c.in, bytes);
    case CollectiveKind::receive:
      if (c.in == nullptr) return receive_from(op, static_cast<std::size_t>(c.from), c.out, bytes);
      op.receiving = Block::raw(as_size(bytes));
      return receive_from(op, static_cast<std::size_t>(c.from), op.receiving->data(), bytes);
    case CollectiveKind::permute: {
      const auto me = static_cast<int>(group.me);
      if (c.from >= 0 && c.from != me)
        HEDDLE_TRY_VOID(receive_from(op, static_cast<std::size_t>(c.from), c.out, bytes));
      if (c.from == me) std::memcpy(c.out, c.in, as_size(bytes));
      if (c.from < 0 && bytes > 0) std::memset(c.out, 0, as_size(bytes));
      if (c.to >= 0 && c.to != me) return send_to(op, static_cast<std::size_t>(c.to), c.in, bytes);
      return yes();
    }
    case CollectiveKind::broadcast: {
      const auto root = static_cast<std::size_t>(c.from);
      if (group.me != root) return receive_from(op, root, c.out, bytes);
      if (c.out != c.in && bytes > 0) std::memcpy(c.out, c.in, as_size(bytes));
      for (std::size_t i = 0; i < group.ranks.size(); ++i)
        if (i != root) HEDDLE_TRY_VOID(send_to(op, i, c.in, bytes));
      return yes();
    }
    default:
      return reason("{} is nothing that ranks do together", op_name(c.kind));
  }
}

// ---- in rounds

bool MpiTransport::in_rounds(const Operation& op) const {
  if (group_of(op).ranks.size() < cost::kLeastForRounds) return false;
  const CollectiveKind kind = op.collective.kind;
  if (kind == CollectiveKind::barrier) return true;
  return (kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather) &&
         op.collective.in_pieces.bytes() <= cost::kMostForRounds;
}

// What members hold goes round in ever larger parts, each counted from its own: after the round
// over a distance of d everyone has those of 2 d members. Sums are taken at the end, in order.
Verdict MpiTransport::begin_rounds(Operation& op) {
  const std::int64_t bytes = op.collective.in_pieces.bytes();
  op.receiving = Block::raw(as_size(bytes) * group_of(op).ranks.size());
  if (bytes > 0) std::memcpy(op.receiving->data(), op.collective.in, as_size(bytes));
  return start_round(op);
}

Verdict MpiTransport::start_round(Operation& op) {
  const Group& group = group_of(op);
  const std::size_t members = group.ranks.size(), distance = std::size_t{1} << (op.stage - 1);
  const std::int64_t bytes = op.collective.in_pieces.bytes();
  const auto part = static_cast<std::int64_t>(std::min(distance, members - distance)) * bytes;
  std::byte* const held = op.receiving->data();
  HEDDLE_TRY_VOID(
      receive_from(op, (group.me + distance) % members, held + as_size(bytes) * distance, part));
  return send_to(op, (group.me + members - distance) % members, held, part);
}

void MpiTransport::end_rounds(Operation& op) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  const std::int64_t bytes = c.in_pieces.bytes();
  if (c.kind == CollectiveKind::barrier || bytes == 0) return;
  const std::size_t members = group.ranks.size();
  const auto held = op.receiving;
  const auto of = [&](std::size_t place) {
    return held->data() + as_size(bytes) * ((place + members - group.me) % members);
  };
  if (c.kind == CollectiveKind::all_gather) {
    const auto n = static_cast<std::int64_t>(members);
    for (std::size_t i = 0; i < members; ++i)
      copy(of(i), dense(bytes), c.out, piece_of(c.out_pieces, static_cast<std::int64_t>(i), n));
    return;
  }
  op.receiving = Block::raw(as_size(bytes) * members);
  for (std::size_t i = 0; i < members; ++i)
    std::memcpy(op.receiving->data() + as_size(bytes) * i, of(i), as_size(bytes));
  reduce(op, c.in, bytes, c.out);
}

// Small, or of two: everyone gets everything. Large: everyone gets a share of all, then gives its
// sum away.
Verdict MpiTransport::begin_all_reduce(Operation& op) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  const std::size_t members = group.ranks.size();
  const std::int64_t bytes = c.in_pieces.bytes();
  const bool small = everyone_reduces_all(bytes, members);
  const Share mine = small ? Share{0, bytes} : share_of(bytes, group.me, members);
  op.receiving = Block::raw(as_size(mine.bytes) * members);
  for (std::size_t i = 0; i < members; ++i)
    if (i != group.me)
      HEDDLE_TRY_VOID(
          receive_from(op, i, op.receiving->data() + as_size(mine.bytes) * i, mine.bytes));
  for (std::size_t k = 1; k < members; ++k) {
    const std::size_t i = (group.me + k) % members;
    const Share its = small ? mine : share_of(bytes, i, members);
    HEDDLE_TRY_VOID(send_to(op, i, c.in + its.first, its.bytes));
  }
  return yes();
}

// What the members have sent, in the order of their ranks; `mine` is this one's part.
void MpiTransport::reduce(const Operation& op, const std::byte* mine, std::int64_t bytes,
                          std::byte* to) const {
  const Combine combine = combine_function(op.collective.reduce, op.collective.dtype);
  const Group& group = group_of(op);
  const std::int64_t element = byte_size(op.collective.dtype);
  std::byte block[kBlock];
  for (std::int64_t at = 0; at < bytes; at += kBlock) {
    const std::int64_t part = std::min(kBlock, bytes - at);
    const auto of = [&](std::size_t place) {
      return place == group.me
                 ? mine + at
                 : op.receiving->data() + static_cast<std::int64_t>(place) * bytes + at;
    };
    const std::byte* sum = of(group.order[0]);
    for (std::size_t m = 1; m < group.order.size(); ++m) {
      combine(block, sum, of(group.order[m]), part / element);
      sum = block;
    }
    std::memcpy(to + at, sum, as_size(part));
  }
}

Verdict MpiTransport::finish_all_reduce(Operation& op, bool& more) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  const std::size_t members = group.ranks.size();
  const std::int64_t bytes = c.in_pieces.bytes();
  if (everyone_reduces_all(bytes, members)) {
    reduce(op, c.in, bytes, c.out);
    return yes();
  }
  if (op.stage > 1) return yes();
  op.stage = 2;
  more = true;
  const Share mine = share_of(bytes, group.me, members);
  for (std::size_t i = 0; i < members; ++i) {
    if (i == group.me) continue;
    const Share its = share_of(bytes, i, members);
    HEDDLE_TRY_VOID(receive_from(op, i, c.out + its.first, its.bytes));
  }
  reduce(op, c.in + mine.first, mine.bytes, c.out + mine.first);
  for (std::size_t k = 1; k < members; ++k)
    HEDDLE_TRY_VOID(send_to(op, (group.me + k) % members, c.out + mine.first, mine.bytes));
  return yes();
}

Verdict MpiTransport::begin_all_gather(Operation& op) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  const std::size_t members = group.ranks.size();
  const std::int64_t bytes = c.in_pieces.bytes();
  const bool direct = c.out_pieces.runs == 1;
  std::byte* to = c.out;
  if (!direct) {
    op.receiving = Block::raw(as_size(bytes) * members);
    to = op.receiving->data();
  }
  for (std::size_t i = 0; i < members; ++i)
    if (i != group.me)
      HEDDLE_TRY_VOID(receive_from(op, i, to + static_cast<std::int64_t>(i) * bytes, bytes));
  for (std::size_t k = 1; k < members; ++k)
    HEDDLE_TRY_VOID(send_to(op, (group.me + k) % members, c.in, bytes));
  // Large messages move only while ranks wait: before that the own piece is copied, so that it is
  // in the cache when it is sent.
  op.has_own = direct && bytes >= cost::kLargePiece;
  if (op.has_own) copy_own(op);
  return yes();
}

// Pieces go to their members; of a reduce_scatter they are combined there.
Verdict MpiTransport::begin_all_to_all(Operation& op) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  const std::size_t members = group.ranks.size();
  const auto n = static_cast<std::int64_t>(members);
  const std::int64_t bytes = c.in_pieces.bytes();
  const bool reduces = c.kind == CollectiveKind::reduce_scatter;
  const bool direct = !reduces && c.out_pieces.runs == 1;
  if (!direct) op.receiving = Block::raw(as_size(bytes) * members);
  std::byte* to = direct ? c.out : op.receiving->data();
  for (std::size_t i = 0; i < members; ++i)
    if (i != group.me)
      HEDDLE_TRY_VOID(receive_from(op, i, to + static_cast<std::int64_t>(i) * bytes, bytes));
  const std::byte* from = c.in;
  if (c.in_pieces.runs > 1) {
    op.sending = Block::raw(as_size(bytes) * members);
    for (std::int64_t i = 0; i < n; ++i)
      copy(c.in, piece_of(c.in_pieces, i, n), op.sending->data() + i * bytes, dense(bytes));
    from = op.sending->data();
  }
  for (std::size_t k = 1; k < members; ++k) {
    const std::size_t i = (group.me + k) % members;
    HEDDLE_TRY_VOID(send_to(op, i, from + static_cast<std::int64_t>(i) * bytes, bytes));
  }
  return yes();
}

Verdict MpiTransport::begin_exchange(Operation& op) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  for (std::size_t i = 0; i < group.ranks.size(); ++i)
    if (i != group.me)
      HEDDLE_TRY_VOID(receive_from(op, i, c.receives[i].data, c.receives[i].bytes));
  for (std::size_t i = 0; i < group.ranks.size(); ++i)
    if (i != group.me) HEDDLE_TRY_VOID(send_to(op, i, c.sends[i].data, c.sends[i].bytes));
  const SendPart& mine = c.sends[group.me];
  if (mine.bytes != c.receives[group.me].bytes)
    return reason("rank {} sends {} bytes to itself and expects {}", rank_, mine.bytes,
                  c.receives[group.me].bytes);
  if (mine.bytes > 0) std::memcpy(c.receives[group.me].data, mine.data, as_size(mine.bytes));
  return yes();
}

void MpiTransport::copy_own(const Operation& op) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  const auto n = static_cast<std::int64_t>(group.ranks.size());
  const auto me = static_cast<std::int64_t>(group.me);
  const bool gathers = c.kind == CollectiveKind::all_gather;
  copy(c.in, gathers ? dense(c.in_pieces.bytes()) : piece_of(c.in_pieces, me, n), c.out,
       piece_of(c.out_pieces, me, n));
}

// The own piece, and those that came densely, to where they belong. Not before: messages go first.
void MpiTransport::unpack(Operation& op) {
  const Collective& c = op.collective;
  const Group& group = group_of(op);
  const auto n = static_cast<std::int64_t>(group.ranks.size());
  const auto me = static_cast<std::int64_t>(group.me);
  const std::int64_t bytes = c.in_pieces.bytes();
  if (!op.has_own) copy_own(op);
  if (c.out_pieces.runs == 1) return;
  for (std::int64_t i = 0; i < n; ++i)
    if (i != me)
      copy(op.receiving->data() + i * bytes, dense(bytes), c.out, piece_of(c.out_pieces, i, n));
}

// All messages of a stage have arrived.
Verdict MpiTransport::finish(Operation& op, bool& more) {
  const Collective& c = op.collective;
  if (in_rounds(op)) {
    more = std::size_t{1} << op.stage < group_of(op).ranks.size();
    ++op.stage;
    if (more) return start_round(op);
    end_rounds(op);
    return yes();
  }
  switch (c.kind) {
    case CollectiveKind::all_reduce:
      return finish_all_reduce(op, more);
    case CollectiveKind::reduce_scatter: {
      const Group& group = group_of(op);
      const std::int64_t bytes = c.in_pieces.bytes(), me = static_cast<std::int64_t>(group.me);
      const auto n = static_cast<std::int64_t>(group.ranks.size());
      const Runs mine = piece_of(c.in_pieces, me, n);
      if (mine.count == 1) {
        reduce(op, c.in + mine.first, bytes, c.out);
        return yes();
      }
      copy(c.in, mine, op.receiving->data() + me * bytes, dense(bytes));
      reduce(op, op.receiving->data() + me * bytes, bytes, c.out);
      return yes();
    }
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      unpack(op);
      return yes();
    case CollectiveKind::receive:
      if (c.in != nullptr)
        combine_function(c.reduce, c.dtype)(c.out, c.in, op.receiving->data(),
                                            c.in_pieces.bytes() / byte_size(c.dtype));
      return yes();
    default:
      return yes();
  }
}

}  // namespace heddle::comm
