#include "ir/eval/collective.h"

#include <algorithm>

#include "ir/attr_access.h"
#include "ir/eval/elementwise.h"
#include "ir/eval/index_space.h"
#include "ir/eval/process_group.h"
#include "ir/eval/reduce_common.h"
#include "ir/eval/scalar.h"
#include "ir/replica_groups.h"

namespace heddle {

namespace {

using Arrays = std::vector<Array>;

// What everyone in a group brought, in the group's order.
struct Gathered {
  std::vector<Arrays> all;
  Ids members;           // ids of processes
  std::size_t mine = 0;  // my place
};

std::int64_t replicas_of(const EvalContext& ctx) {
  return ctx.process.group ? ctx.process.group->replicas() : 1;
}
std::int64_t partitions_of(const EvalContext& ctx) {
  return ctx.process.group ? ctx.process.group->partitions() : 1;
}

Expected<Gathered> gather_from(EvalContext& ctx, Ids members) {
  Gathered gathered;
  gathered.members = std::move(members);
  if (gathered.members.empty()) return gathered;
  Arrays mine(ctx.operands.begin(), ctx.operands.end());
  ProcessGroup* group = ctx.process.group;
  if (!group) {
    gathered.all.push_back(std::move(mine));
    return gathered;
  }
  const std::int64_t me = group->id_of(ctx.process);
  const auto place = std::find(gathered.members.begin(), gathered.members.end(), me);
  HEDDLE_CHECK(place != gathered.members.end(), "process {} is not in its group", me);
  gathered.mine = static_cast<std::size_t>(place - gathered.members.begin());
  const std::string_view name = ctx.op.def->short_name();
  const std::string key = fmt::format("{} {}", name, channel_of(ctx.program, ctx.op));
  const std::string what = fmt::format("{} [{}]", ctx.program.where(ctx.op.loc), name);
  HEDDLE_TRY(gathered.all, group->meet(me, gathered.members, key, what, std::move(mine)));
  for (std::size_t i = 0; i < gathered.all.size(); ++i) {
    bool same = gathered.all[i].size() == ctx.operands.size();
    for (std::size_t k = 0; same && k < ctx.operands.size(); ++k)
      same = gathered.all[i][k].type() == ctx.operands[k].type();
    if (!same)
      return reason("process {} brought other types of operands than process {}",
                    gathered.members[i], me);
  }
  return gathered;
}

Expected<Gathered> gather(EvalContext& ctx, GroupBy by) {
  HEDDLE_TRY(auto groups, replica_groups(ctx.program, ctx.op));
  HEDDLE_TRY(Ids members, group_of(groups, by, replicas_of(ctx), partitions_of(ctx), ctx.process));
  return gather_from(ctx, std::move(members));
}

Array zeros(const Type& type) { return Array(type); }

Arrays all_zeros(const EvalContext& ctx) {
  Arrays results;
  for (std::size_t i = 0; i < ctx.op.result_count; ++i)
    results.push_back(zeros(ctx.result_type(i)));
  return results;
}

// The place in a whole of its part-th piece of `size` along a dimension.
ElementPlaces piece(const Shape& whole, std::size_t dim, std::int64_t size, std::int64_t part) {
  ElementPlaces place{0, row_major_strides(whole)};
  place.base = part * size * place.steps[dim];
  return place;
}

Verdict fits(const Type& got, const Type& wanted) {
  if (got == wanted) return yes();
  return reason("the group makes the result {}, but it is {}", got.str(), wanted.str());
}

Expected<Array> joined(const Arrays& parts, std::size_t dim, const Type& result) {
  Type type = parts[0].type();
  type.shape[dim] *= static_cast<std::int64_t>(parts.size());
  HEDDLE_TRY_VOID(fits(type, result));
  Array whole(result);
  for (std::size_t i = 0; i < parts.size(); ++i)
    put_elements(whole, parts[i],
                 piece(type.shape, dim, parts[i].shape()[dim], static_cast<std::int64_t>(i)));
  return whole;
}

// The part-th of `count` equal pieces.
Expected<Array> split_off(const Array& whole, std::size_t dim, std::size_t count,
                          std::size_t part) {
  Type type = whole.type();
  const auto n = static_cast<std::int64_t>(count);
  if (type.shape[dim] % n != 0)
    return reason("dimension {} of {} cannot be split among {} processes", dim, type.str(), n);
  type.shape[dim] /= n;
  return pick_elements(whole, type,
                       piece(whole.shape(), dim, type.shape[dim], static_cast<std::int64_t>(part)));
}

// Element by element over all members, in the order of their ids.
// What the members brought, in the order of their numbers.
std::vector<std::size_t> in_order(const Gathered& gathered) {
  std::vector<std::size_t> order(gathered.all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return gathered.members[a] < gathered.members[b];
  });
  return order;
}

Expected<Array> reduced(EvalContext& ctx, const Gathered& gathered, std::size_t operand,
                        DType dtype) {
  const std::vector<std::size_t> order = in_order(gathered);
  Array sum = converted(gathered.all[order[0]][operand], dtype);
  for (std::size_t m = 1; m < order.size(); ++m) {
    const Array next = converted(gathered.all[order[m]][operand], dtype);
    for (std::int64_t i = 0; i < sum.elements(); ++i) {
      HEDDLE_TRY(Arrays both,
                 ctx.run_region(ctx.region(0), {element_array(sum, i), element_array(next, i)}));
      reduction::put_element(sum, i, both[0]);
    }
  }
  return sum;
}

std::size_t dimension(const EvalContext& ctx, std::string_view name) {
  return static_cast<std::size_t>(integer_or(ctx.attr(name), 0));
}

Reason in_no_group() { return reason("this process is in none of the replica_groups"); }

Array id_array(std::int64_t id) {
  return scalar_array<std::uint32_t>(static_cast<std::uint32_t>(id));
}

}  // namespace

Results eval_all_gather(EvalContext& ctx) {
  HEDDLE_TRY(Gathered gathered, gather(ctx, reduction_grouping(ctx.program, ctx.op)));
  if (gathered.all.empty()) return in_no_group();
  const std::size_t dim = dimension(ctx, "all_gather_dim");
  Arrays results;
  for (std::size_t k = 0; k < ctx.operands.size(); ++k) {
    Arrays parts;
    for (const Arrays& brought : gathered.all) parts.push_back(brought[k]);
    HEDDLE_TRY(Array whole, joined(parts, dim, ctx.result_type(k)));
    results.push_back(std::move(whole));
  }
  return results;
}

Results all_reduced(EvalContext& ctx, const Gathered& gathered) {
  Arrays results;
  for (std::size_t k = 0; k < ctx.operands.size(); ++k) {
    HEDDLE_TRY(Array sum, reduced(ctx, gathered, k, ctx.result_type(k).dtype));
    results.push_back(std::move(sum));
  }
  return results;
}

Results eval_all_reduce(EvalContext& ctx) {
  HEDDLE_TRY(Gathered gathered, gather(ctx, reduction_grouping(ctx.program, ctx.op)));
  if (gathered.all.empty()) return in_no_group();
  return all_reduced(ctx, gathered);
}

// An all_reduce that always adds.
Results eval_cross_replica_sum(EvalContext& ctx) {
  HEDDLE_TRY(Gathered gathered, gather(ctx, reduction_grouping(ctx.program, ctx.op)));
  if (gathered.all.empty()) return in_no_group();
  const std::vector<std::size_t> order = in_order(gathered);
  Array sum = gathered.all[order[0]][0];
  for (std::size_t m = 1; m < order.size(); ++m) {
    const Arrays both{sum, gathered.all[order[m]][0]};
    EvalContext add{ctx.program, ctx.op, both, ctx.run_region, ctx.call, ctx.process, ctx.machine};
    HEDDLE_TRY(Arrays added, binary_evaluation("add")(add));
    sum = added[0];
  }
  return Arrays{sum};
}

Results eval_reduce_scatter(EvalContext& ctx) {
  HEDDLE_TRY(Gathered gathered, gather(ctx, reduction_grouping(ctx.program, ctx.op)));
  if (gathered.all.empty()) return in_no_group();
  Arrays results;
  for (std::size_t k = 0; k < ctx.operands.size(); ++k) {
    HEDDLE_TRY(Array sum, reduced(ctx, gathered, k, ctx.result_type(k).dtype));
    HEDDLE_TRY(Array part, split_off(sum, dimension(ctx, "scatter_dimension"), gathered.all.size(),
                                     gathered.mine));
    HEDDLE_TRY_VOID(fits(part.type(), ctx.result_type(k)));
    results.push_back(std::move(part));
  }
  return results;
}

Results eval_all_to_all(EvalContext& ctx) {
  HEDDLE_TRY(Gathered gathered, gather(ctx, exchange_grouping(ctx.program, ctx.op)));
  if (gathered.all.empty()) return in_no_group();
  const std::size_t count = dimension(ctx, "split_count");
  if (count != gathered.all.size())
    return reason("split_count is {}, but the group has {} processes", count, gathered.all.size());
  Arrays results;
  for (std::size_t k = 0; k < ctx.operands.size(); ++k) {
    Arrays parts;
    for (const Arrays& brought : gathered.all) {
      HEDDLE_TRY(Array part,
                 split_off(brought[k], dimension(ctx, "split_dimension"), count, gathered.mine));
      parts.push_back(std::move(part));
    }
    HEDDLE_TRY(Array whole, joined(parts, dimension(ctx, "concat_dimension"), ctx.result_type(k)));
    results.push_back(std::move(whole));
  }
  return results;
}

Results eval_collective_broadcast(EvalContext& ctx) {
  HEDDLE_TRY(Gathered gathered, gather(ctx, exchange_grouping(ctx.program, ctx.op)));
  if (gathered.all.empty()) return all_zeros(ctx);
  Arrays results;
  for (std::size_t k = 0; k < ctx.op.result_count; ++k) {
    std::int64_t root = 0;
    if (flag_or(ctx.attr("has_dynamic_root"), false))
      root = to_int64(ctx.operands.back(), static_cast<std::int64_t>(k));
    if (root < 0 || root >= static_cast<std::int64_t>(gathered.all.size()))
      return reason("root {} is none of the {} processes of the group", root, gathered.all.size());
    results.push_back(gathered.all[static_cast<std::size_t>(root)][k]);
  }
  return results;
}

Results eval_collective_reduce(EvalContext& ctx) {
  HEDDLE_TRY(Gathered gathered, gather(ctx, reduction_grouping(ctx.program, ctx.op)));
  if (gathered.all.empty() || gathered.mine != 0) return all_zeros(ctx);
  return all_reduced(ctx, gathered);
}

// Everyone who sends or receives meets, so that each finds who sends to it.
Results eval_collective_permute(EvalContext& ctx) {
  HEDDLE_TRY(auto pairs, source_target_pairs(ctx.program, ctx.op));
  const GroupBy by = exchange_grouping(ctx.program, ctx.op);
  Ids ids;
  for (const Ids& pair : pairs) ids.insert(ids.end(), pair.begin(), pair.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.empty()) return all_zeros(ctx);
  HEDDLE_TRY(Ids members, group_of({ids}, by, replicas_of(ctx), partitions_of(ctx), ctx.process));
  HEDDLE_TRY(Gathered gathered, gather_from(ctx, std::move(members)));
  const std::int64_t me = by == GroupBy::partition ? ctx.process.partition : ctx.process.replica;
  for (const Ids& pair : pairs)
    if (pair[1] == me && !gathered.all.empty()) {
      const auto source = std::lower_bound(ids.begin(), ids.end(), pair[0]) - ids.begin();
      return gathered.all[static_cast<std::size_t>(source)];
    }
  return all_zeros(ctx);
}

Results eval_partition_id(EvalContext& ctx) { return Arrays{id_array(ctx.process.partition)}; }

Results eval_replica_id(EvalContext& ctx) { return Arrays{id_array(ctx.process.replica)}; }

}  // namespace heddle
