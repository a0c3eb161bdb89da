// Slices that are only put together again (jnp.roll, jnp.pad): neighbours send their edges, and
// what comes from further away, as the last row of a ring, goes from the one device that has it to
// the one that needs it.
#include "parallel/joined.h"

#include "parallel/messages.h"
#include "parallel/op_parts.h"
#include "spmd/fetch.h"
#include "spmd/placed.h"
#include "spmd/writers.h"

namespace heddle {

namespace {

// What a part puts over the result, each run of elements from the device that has it.
ValueId delivered(Core& c, ValueId local, const JoinedPart& part, const Window& place,
                  ValueId result) {
  const std::int64_t have = c.w.type(local).shape[place.dim];
  for (const JoinedPart::Delivery& run : part.deliveries) {
    ValueId sent = c.w.slice(local, place.dim, (part.from + run.first) % have, run.count);
    if (run.from != run.to) {
      const Type run_type = c.w.type(sent);
      c.tell(MoveKind::permute, place.axes, run_type, run_type.bytes(),
             link_seconds(c.mesh.mesh, place.axes, run_type.bytes()));
      sent = c.w.permute(sent, c.w.pair(place.axes, run.from, run.to));
    }
    const std::int64_t low = (part.to + run.first) % place.count;
    const ValueId room = c.w.pad(sent, place.dim, low, place.count - low - run.count,
                                 c.w.zero(c.w.type(sent).dtype));
    if (result == kNone) {
      result = room;
      continue;
    }
    // From its first element on; what lies behind it is written over by the next.
    result = placed(c, room, place, part.to + run.first, result);
  }
  return result;
}

}  // namespace

Verdict write_joined(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Decision& decision = c.decision(id);
  const ValueId v = c.from.result(op, 0);
  const auto dim = static_cast<std::size_t>(joined_factor(c.from, op));
  const SplitAxes axes = c.split(decision.choice->results[0]).dims[dim].axes();
  const std::int64_t block = (c.type_of(v).shape[dim] + total(axes) - 1) / total(axes);
  ValueId result = kNone;
  for (const JoinedPart& part : decision.parts) {
    const Window place = joined_place(part, dim, axes, block);
    const ValueId local = c.get(part.source, part.split);
    if (!part.deliveries.empty()) {
      result = delivered(c, local, part, place, result);
      continue;
    }
    const ValueId near = fetch(c, local, place);
    result = result == kNone ? near : placed(c, near, place, part.to, result);
  }
  c.define(v, decision.choice->results[0], result);
  return yes();
}

}  // namespace heddle
