// What one rank does in a collective once all members have said where their buffers are.
#include <algorithm>
#include <cstring>

#include "comm/combine.h"
#include "comm/share.h"
#include "comm/shared_transport.h"
#include "cost/fitted.h"

namespace heddle::comm {

namespace {

// Bytes of all members that a reduction works on at a time: they stay in cache.
constexpr std::int64_t kBlock = std::int64_t{1} << 15;

}  // namespace

Verdict SharedTransport::copy_from(LocalGroup& group, const Pending& op, std::size_t place,
                                   const Runs& source, const Runs& target) {
  return world_.memory->copy(group.ranks[place], group.post(place, op.number).in, source,
                             op.collective.out, target);
}

// The members' bytes of a range, combined in the order of their ranks.
Verdict SharedTransport::reduce_range(LocalGroup& group, const Pending& op, const Runs& range,
                                      std::byte* to) {
  const Combine combine = combine_function(op.collective.reduce, op.collective.dtype);
  const std::int64_t element = byte_size(op.collective.dtype);
  const bool direct = world_.memory->direct();
  // Written over its own input, a sum of three would lose what this rank brings.
  const bool apart = group.order.size() > 2 && op.collective.in == op.collective.out;
  if ((!direct || apart) && !scratch_) scratch_ = std::make_unique<std::byte[]>(3 * kBlock);
  // The bytes of a member side by side, read first where they are not; `room` 0 or 1.
  const auto bytes_of = [&](std::size_t place, const Runs& runs,
                            int room) -> Expected<const std::byte*> {
    const std::byte* its = group.post(place, op.number).in;
    if (runs.count == 1 && (direct || place == group.me)) return its + runs.first;
    std::byte* here = scratch_.get() + room * kBlock;
    HEDDLE_TRY_VOID(world_.memory->copy(group.ranks[place], its, runs, here, dense(runs.bytes())));
    return static_cast<const std::byte*>(here);
  };
  const auto reduce = [&](const Runs& runs, std::byte* wanted) -> Verdict {
    const std::int64_t bytes = runs.bytes();
    std::byte* out = apart ? scratch_.get() + 2 * kBlock : wanted;
    HEDDLE_TRY(const std::byte* sum, bytes_of(group.order[0], runs, 0));
    for (std::size_t m = 1; m < group.order.size(); ++m) {
      HEDDLE_TRY(const std::byte* next, bytes_of(group.order[m], runs, 1));
      combine(out, sum, next, bytes / element);
      sum = out;
    }
    if (sum != wanted) std::memcpy(wanted, sum, static_cast<std::size_t>(bytes));
    return yes();
  };
  // Short runs of other processes come many at a time.
  const std::int64_t at_once =
      direct ? 1 : std::max<std::int64_t>(1, kBlock / std::max<std::int64_t>(1, range.run));
  for (std::int64_t r = 0; r < range.count && range.run > 0; r += at_once) {
    const std::int64_t first = range.first + r * range.stride;
    std::byte* wanted = to + r * range.run;
    const std::int64_t runs = std::min(at_once, range.count - r);
    if (runs > 1) {
      HEDDLE_TRY_VOID(reduce({first, range.run, range.stride, runs}, wanted));
      continue;
    }
    for (std::int64_t b = 0; b < range.run; b += kBlock) {
      const std::int64_t bytes = std::min(kBlock, range.run - b);
      HEDDLE_TRY_VOID(reduce({first + b, bytes, bytes, 1}, wanted + b));
    }
  }
  return yes();
}

bool SharedTransport::is_over_early(const Collective& c) {
  return c.kind == CollectiveKind::barrier ||
         (c.kind == CollectiveKind::all_reduce && c.in_pieces.bytes() <= cost::kSmallReduction);
}

// The result may lie where the input does, which others still read: it waits.
Verdict SharedTransport::reduce_small(LocalGroup& group, Pending& op) {
  const std::int64_t bytes = op.collective.in_pieces.bytes();
  op.small.resize(static_cast<std::size_t>(bytes));
  return reduce_range(group, op, dense(bytes), op.small.data());
}

Verdict SharedTransport::begin_work(LocalGroup& group, Pending& op, bool& in_two) {
  const Collective& c = op.collective;
  const auto members = static_cast<std::int64_t>(group.ranks.size());
  const auto me = static_cast<std::int64_t>(group.me);
  switch (c.kind) {
    case CollectiveKind::barrier:
    case CollectiveKind::send:
      return yes();
    case CollectiveKind::all_reduce: {
      in_two = true;
      if (c.in_pieces.bytes() <= cost::kSmallReduction) return reduce_small(group, op);
      const Share mine = share_of(c.in_pieces.bytes(), group.me, group.ranks.size());
      // In place this is safe: nobody else reads or writes this share of these buffers.
      return reduce_range(group, op, {mine.first, mine.bytes, mine.bytes, 1}, c.out + mine.first);
    }
    case CollectiveKind::all_gather:
      for (std::int64_t m = 0; m < members; ++m) {
        const std::int64_t from = (me + m) % members;  // not all from the same one at once
        HEDDLE_TRY_VOID(copy_from(group, op, static_cast<std::size_t>(from),
                                  dense(c.in_pieces.bytes()),
                                  piece_of(c.out_pieces, from, members)));
      }
      return yes();
    case CollectiveKind::reduce_scatter:
      return reduce_range(group, op, piece_of(c.in_pieces, me, members), c.out);
    case CollectiveKind::all_to_all:
      for (std::int64_t m = 0; m < members; ++m) {
        const std::int64_t from = (me + m) % members;
        HEDDLE_TRY_VOID(copy_from(group, op, static_cast<std::size_t>(from),
                                  piece_of(c.in_pieces, me, members),
                                  piece_of(c.out_pieces, from, members)));
      }
      return yes();
    case CollectiveKind::permute:
    case CollectiveKind::broadcast:
    case CollectiveKind::receive: {
      const std::int64_t bytes = c.in_pieces.bytes();
      if (c.kind == CollectiveKind::receive && c.in != nullptr) return combine_from(group, op);
      if (c.from >= 0)
        return copy_from(group, op, static_cast<std::size_t>(c.from), dense(bytes), dense(bytes));
      std::memset(c.out, 0, static_cast<std::size_t>(bytes));
      return yes();
    }
    case CollectiveKind::exchange:
      return run_exchange(group, op);
    default:
      return reason("{} is nothing that ranks do together", op_name(c.kind));
  }
}

// A message that is added to what is here, while it is in the cache.
Verdict SharedTransport::combine_from(LocalGroup& group, const Pending& op) {
  const Collective& c = op.collective;
  const Combine combine = combine_function(c.reduce, c.dtype);
  const auto from = static_cast<std::size_t>(c.from);
  const std::byte* its = group.post(from, op.number).in;
  const std::int64_t bytes = c.in_pieces.bytes(), element = byte_size(c.dtype);
  const bool direct = world_.memory->direct();
  if (!direct && !scratch_) scratch_ = std::make_unique<std::byte[]>(3 * kBlock);
  for (std::int64_t at = 0; at < bytes; at += kBlock) {
    const std::int64_t part = std::min(kBlock, bytes - at);
    const std::byte* there = its + at;
    if (!direct) {
      HEDDLE_TRY_VOID(
          world_.memory->copy(group.ranks[from], there, dense(part), scratch_.get(), dense(part)));
      there = scratch_.get();
    }
    combine(c.out + at, c.in + at, there, part / element);
  }
  return yes();
}

Verdict SharedTransport::run_exchange(LocalGroup& group, const Pending& op) {
  for (std::size_t i = 0; i < group.ranks.size(); ++i) {
    SendPart part;
    const auto* its = reinterpret_cast<const std::byte*>(group.post(i, op.number).sends + group.me);
    HEDDLE_TRY_VOID(world_.memory->copy(group.ranks[i], its, dense(sizeof part),
                                        reinterpret_cast<std::byte*>(&part), dense(sizeof part)));
    const ReceivePart& wanted = op.collective.receives[i];
    if (part.bytes != wanted.bytes)
      return reason("rank {} sends {} bytes where rank {} expects {}", group.ranks[i], part.bytes,
                    rank_, wanted.bytes);
    HEDDLE_TRY_VOID(world_.memory->copy(group.ranks[i], part.data, dense(part.bytes), wanted.data,
                                        dense(part.bytes)));
  }
  return yes();
}

Verdict SharedTransport::finish_work(LocalGroup& group, Pending& op) {
  const Collective& c = op.collective;
  const std::int64_t bytes = c.in_pieces.bytes();
  if (bytes <= cost::kSmallReduction) {
    if (bytes > 0) std::memcpy(c.out, op.small.data(), static_cast<std::size_t>(bytes));
    return yes();
  }
  return gather_reduced(group, op);
}

Verdict SharedTransport::gather_reduced(LocalGroup& group, const Pending& op) {
  const Collective& c = op.collective;
  const std::size_t members = group.ranks.size();
  for (std::size_t m = 1; m < members; ++m) {
    const std::size_t from = (group.me + m) % members;
    const Share share = share_of(c.in_pieces.bytes(), from, members);
    HEDDLE_TRY_VOID(
        world_.memory->copy(group.ranks[from], group.post(from, op.number).out + share.first,
                            dense(share.bytes), c.out + share.first, dense(share.bytes)));
  }
  return yes();
}

}  // namespace heddle::comm
