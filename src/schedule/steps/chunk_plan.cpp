#include "schedule/steps/chunk_plan.h"

#include <algorithm>

#include "heddle/op.h"
#include "schedule/steps/edit.h"
#include "schedule/steps/meeting.h"

namespace heddle {

namespace {

constexpr std::size_t kLongestLine = 64;

bool is_collective(const Op& op) { return op.def->cls == OpClass::communicate; }

RegionId region_with(const Program& program, OpId id) {
  for (RegionId r = 0; r < program.region_count(); ++r)
    if (std::ranges::find(program.region(r).ops, id) != program.region(r).ops.end()) return r;
  return kNone;
}

// What becomes of chunks in a collective; it moves no elements but along one dimension.
Expected<Chunked> through_collective(const Program& program, const Op& op, Chunked chunk) {
  if (op.operand_count != 1 || op.result_count != 1)
    return reason("{}: it has several operands", op.def->short_name());
  if (op.def->collective == CollectiveKind::permute) return chunk;
  HEDDLE_TRY(const Meeting meeting, meeting_of(program, op));
  switch (op.def->collective) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce:
    case CollectiveKind::broadcast:
      return chunk;
    case CollectiveKind::all_gather:
      if (*gathered_dim(program, op) == chunk.dim) chunk.outer *= meeting.members;
      return chunk;
    case CollectiveKind::reduce_scatter:
      if (*scattered_dim(program, op) != chunk.dim) return chunk;
      if (chunk.outer % meeting.members != 0)
        return reason("reduce_scatter: chunks of dimension {} are whole parts of single devices",
                      chunk.dim);
      chunk.outer /= meeting.members;
      return chunk;
    default:
      return reason("{}: it is not done in chunks", op.def->short_name());
  }
}

Expected<ChunkedOp> collective_step(const Program& program, OpId id, const Chunked& chunk,
                                    int from) {
  HEDDLE_TRY(const Chunked result, through_collective(program, program.op(id), chunk));
  ChunkedOp step;
  step.id = id;
  step.from = from;
  step.operands = {chunk};
  step.result = result;
  return step;
}

// The op with a factor cut; `like` says how its values are counted.
Expected<ChunkedOp> op_step(const Program& program, OpId id, std::size_t factor,
                            const Chunked& like, std::int64_t unit, int from) {
  const Op& op = program.op(id);
  HEDDLE_TRY(const OpSlices slices,
             slices_by_factor(program, op, index_rule(program, op), factor, unit));
  ChunkedOp step;
  step.id = id;
  step.from = from;
  step.rule = slices.rule;
  step.factor = factor;
  step.unit = unit;
  for (const auto& dim : slices.operands)
    step.operands.push_back(
        dim ? std::optional(Chunked{dim->dim, like.outer, like.length, dim->block}) : std::nullopt);
  if (!slices.partial)
    step.result =
        Chunked{slices.results[0]->dim, like.outer, like.length, slices.results[0]->block};
  if (like.outer == 1) return step;
  std::vector<FactorRange> ranges = all_ranges(step.rule);
  ranges[factor].size = unit;
  HEDDLE_TRY(const OpPiece piece, piece_of(program, op, step.rule, ranges));
  if (piece.add_factor == static_cast<int>(factor) || !piece.shifts.empty())
    return reason("{}: it counts places, which do not lie behind one another",
                  op.def->short_name());
  return step;
}

Expected<ChunkedOp> next_step(const Program& program, OpId id, std::size_t from,
                              const Chunked& chunk) {
  const Op& op = program.op(id);
  if (is_collective(op)) return collective_step(program, id, chunk, static_cast<int>(from));
  const IndexRule rule = index_rule(program, op);
  const auto leads = leading_factor(rule.operands[from].dims[chunk.dim], rule);
  if (!leads || chunk.inner % leads->inner != 0)
    return reason("{}: chunks of dimension {} are none of its own ({})", op.def->short_name(),
                  chunk.dim, rule.str());
  return op_step(program, id, leads->factor, chunk, chunk.inner / leads->inner,
                 static_cast<int>(from));
}

// Chunks along a dimension of what the first op takes, or gives where it is no collective.
Expected<ChunkedOp> first_step(const Program& program, OpId id, std::size_t dim,
                               std::int64_t outer) {
  const Op& op = program.op(id);
  if (is_collective(op)) {
    const std::int64_t size = program.type_of(program.operands(op)[0]).shape[dim];
    if (size % outer != 0) return reason("its parts are uneven");
    return collective_step(program, id, {dim, outer, size / outer, 1}, -1);
  }
  const IndexRule rule = index_rule(program, op);
  const auto leads = leading_factor(rule.results[0].dims[dim], rule);
  if (!leads)
    return reason("{}: dimension {} of its result stays whole ({})", op.def->short_name(), dim,
                  rule.str());
  const std::int64_t size = rule.factors[leads->factor].size;
  if (size % outer != 0) return reason("its parts are uneven");
  return op_step(program, id, leads->factor, {0, outer, size / outer, 1}, 1, -1);
}

std::size_t operand_from(const Program& program, const Op& op, const Op& before) {
  const auto operands = program.operands(op);
  return static_cast<std::size_t>(std::ranges::find(operands, before.results) - operands.begin());
}

Expected<ChunkPlan> planned(const Program& program, const std::vector<OpId>& line, std::size_t dim,
                            std::int64_t outer, std::int64_t chunks) {
  ChunkPlan plan;
  HEDDLE_TRY(ChunkedOp first, first_step(program, line[0], dim, outer));
  plan.push_back(std::move(first));
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (!plan.back().result)
      return reason("{}: it adds up all chunks before the next op",
                    program.op(line[i - 1]).def->short_name());
    const std::size_t from = operand_from(program, program.op(line[i]), program.op(line[i - 1]));
    HEDDLE_TRY(ChunkedOp next, next_step(program, line[i], from, *plan.back().result));
    plan.push_back(std::move(next));
  }
  if (std::ranges::any_of(
          plan, [&](const ChunkedOp& step) { return step.result && step.result->length < chunks; }))
    return reason("there are fewer than {} elements along dimension {} to cut", chunks, dim);
  return plan;
}

// Sums of all chunks cost more than copies, and copies of parts more than whole rows.
int copies_of(const ChunkPlan& plan) {
  if (!plan.back().result) return 2;
  return std::ranges::any_of(
             plan, [](const ChunkedOp& step) { return step.result && step.result->outer > 1; })
             ? 1
             : 0;
}

}  // namespace

Expected<std::vector<OpId>> line_between(const Program& program, OpId first, OpId last) {
  const auto users = users_of(program);
  std::vector<OpId> line = {first};
  const RegionId region = region_with(program, last);
  if (region_with(program, first) != region) return reason("they lie in different regions");
  while (line.back() != last) {
    const Op& op = program.op(line.back());
    if (op.result_count != 1) return reason("{} has several results", op.def->short_name());
    const std::vector<OpId>& next = users[op.results];
    if (next.size() != 1)
      return reason("{} goes to {} ops, so that there is no one line to the other",
                    value_text(program, op.results), next.size());
    const auto taken = program.operands(program.op(next[0]));
    if (std::ranges::count(taken, op.results) != 1)
      return reason("{} does not take {} once", program.op(next[0]).def->short_name(),
                    value_text(program, op.results));
    if (region_with(program, next[0]) != region || line.size() > kLongestLine ||
        program.op(next[0]).def->form == Form::terminator)
      return reason("there is no line of ops from {} to {}",
                    value_text(program, program.op(first).results),
                    value_text(program, program.op(last).results));
    line.push_back(next[0]);
  }
  if (program.op(last).result_count != 1)
    return reason("{} has several results", program.op(last).def->short_name());
  return line;
}

Expected<ChunkPlan> chunk_plan(const Program& program, const std::vector<OpId>& line,
                               std::int64_t chunks, std::optional<std::size_t> dim) {
  const Op& first = program.op(line[0]);
  if (std::ranges::none_of(line, [&](OpId id) { return is_collective(program.op(id)); }))
    return reason("there is no collective among them that work could hide");
  const Type& type =
      program.type_of(is_collective(first) ? program.operands(first)[0] : first.results);
  std::int64_t parts = 1;  // into which the line scatters
  for (OpId id : line)
    if (scattered_dim(program, program.op(id)))
      if (const auto meeting = meeting_of(program, program.op(id))) parts *= meeting->members;
  std::optional<ChunkPlan> best;
  std::optional<Reason> no;
  for (std::size_t d = 0; d < type.rank(); ++d)
    for (std::int64_t outer : {std::int64_t{1}, parts}) {
      auto plan = planned(program, line, d, outer, chunks);
      if (plan && dim && (!plan->back().result || plan->back().result->dim != *dim))
        plan = reason("chunks of dimension {} do not become chunks of dimension {}", d, *dim);
      if (!plan) {
        if (!no) no = plan.why();
        continue;
      }
      if (!best || copies_of(*plan) < copies_of(*best)) best = *std::move(plan);
    }
  if (best) return *std::move(best);
  return no.value_or(reason("it has no dimension to cut"));
}

}  // namespace heddle
