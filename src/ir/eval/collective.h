// Evaluations of ops between devices. Processes meet in a ProcessGroup; one device is a group of
// one.
#pragma once

#include "ir/eval/eval.h"

namespace heddle {

using Results = Expected<std::vector<Array>>;
Results eval_all_gather(EvalContext& ctx);
Results eval_all_reduce(EvalContext& ctx);
Results eval_cross_replica_sum(EvalContext& ctx);
Results eval_reduce_scatter(EvalContext& ctx);
Results eval_all_to_all(EvalContext& ctx);
Results eval_collective_permute(EvalContext& ctx);
Results eval_collective_broadcast(EvalContext& ctx);
Results eval_collective_reduce(EvalContext& ctx);
Results eval_send(EvalContext& ctx);
Results eval_recv(EvalContext& ctx);
Results eval_partition_id(EvalContext& ctx);
Results eval_replica_id(EvalContext& ctx);

}  // namespace heddle
