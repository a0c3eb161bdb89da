// send and recv: queues, one per channel and, where the op says who sends to whom, per receiver.
#include "ir/attr_access.h"
#include "ir/eval/collective.h"
#include "ir/eval/process_group.h"
#include "ir/replica_groups.h"

namespace heddle {

namespace {

using Arrays = std::vector<Array>;

std::string queue_of(std::int64_t channel, std::int64_t receiver) {
  return fmt::format("{} to {}", channel, receiver);
}

// The process with an id of source_target_pairs that shares the rest with this one.
std::int64_t own_id(const EvalContext& ctx) {
  const bool by_partition = exchange_grouping(ctx.program, ctx.op) == GroupBy::partition &&
                            ctx.process.group->partitions() > 1;
  return by_partition ? ctx.process.partition : ctx.process.replica;
}

Reason alone() { return reason("there is no other process; interpreter.run_parallel starts some"); }

}  // namespace

Results eval_send(EvalContext& ctx) {
  ProcessGroup* group = ctx.process.group;
  if (!group) return alone();
  const Arrays sent(ctx.operands.begin(), ctx.operands.end() - 1);  // without the token
  const std::int64_t channel = channel_of(ctx.program, ctx.op);
  HEDDLE_TRY(auto pairs, source_target_pairs(ctx.program, ctx.op));
  if (pairs.empty()) group->send(queue_of(channel, -1), sent);
  for (const auto& pair : pairs)
    if (pair[0] == own_id(ctx)) group->send(queue_of(channel, pair[1]), sent);
  return Arrays{Array(Type::token())};
}

Results eval_recv(EvalContext& ctx) {
  ProcessGroup* group = ctx.process.group;
  if (!group) return alone();
  const std::int64_t channel = channel_of(ctx.program, ctx.op);
  HEDDLE_TRY(auto pairs, source_target_pairs(ctx.program, ctx.op));
  bool expects = pairs.empty();
  for (const auto& pair : pairs) expects |= pair[1] == own_id(ctx);
  Arrays results;
  if (expects) {
    const std::string what =
        fmt::format("{} [recv] on channel {}", ctx.program.where(ctx.op.loc), channel);
    const std::int64_t receiver = pairs.empty() ? -1 : own_id(ctx);
    HEDDLE_TRY(results,
               group->receive(group->id_of(ctx.process), queue_of(channel, receiver), what));
  } else {
    for (std::size_t i = 0; i + 1 < ctx.op.result_count; ++i)
      results.push_back(Array(ctx.result_type(i)));
  }
  results.push_back(Array(Type::token()));
  bool same = results.size() == ctx.op.result_count;
  for (std::size_t i = 0; same && i < results.size(); ++i)
    same = results[i].type() == ctx.result_type(i);
  if (!same) return reason("what was sent on channel {} has other types than the results", channel);
  return results;
}

}  // namespace heddle
