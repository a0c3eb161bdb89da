#include "schedule/steps/overlap_chunks.h"

#include <algorithm>

#include "heddle/op.h"
#include "schedule/collective_key.h"
#include "schedule/fused_attr.h"
#include "schedule/steps/chunk_plan.h"

namespace heddle {

namespace {

class ChunkWriter {
 public:
  ChunkWriter(const Program& program, std::uint32_t mesh, ChunkPlan plan, std::int64_t chunks)
      : program_(program), edit_(program, mesh), plan_(std::move(plan)), chunks_(chunks) {}

  Expected<Rewritten> run() {
    for (const ChunkedOp& step : plan_) edit_.leave_out(step.id);
    edit_.replace(plan_.back().id, [&](RegionId at, const Op& last) { return write(at, last); });
    return edit_.done();
  }

 private:
  struct Range {
    std::int64_t begin, end;
    std::int64_t size() const { return end - begin; }
  };
  Range range(const Chunked& c, std::int64_t chunk) const {
    return {c.length * chunk / chunks_, c.length * (chunk + 1) / chunks_};
  }

  Verdict write(RegionId at, const Op& last) {
    std::vector<std::vector<ValueId>> all;
    for (std::int64_t k = 0; k < chunks_; ++k) {
      ValueId v = kNone;
      for (const ChunkedOp& step : plan_) {
        HEDDLE_TRY(v, write_op(at, step, k, v));
      }
      all.push_back({v});
    }
    const ChunkedOp& end = plan_.back();
    if (end.result) {
      edit_.define(last.results, joined(at, last, *end.result, all));
      return yes();
    }
    edit_.define(last.results,
                 emit_combined(edit_.out(), at, program_, last, end.rule, all, {})[0]);
    return yes();
  }

  // What one chunk has of a value.
  ValueId taken(RegionId at, const Op& op, ValueId v, const Chunked& c, std::int64_t chunk) {
    Writer& w = edit_.writer(at, op);
    const Range r = range(c, chunk);
    if (c.outer == 1) return w.slice(v, c.dim, r.begin * c.inner, r.size() * c.inner);
    Shape whole = w.type(v).shape, apart = whole, part = whole;
    apart[c.dim] = c.length * c.inner;
    apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(c.dim), c.outer);
    part[c.dim] = c.outer * r.size() * c.inner;
    return w.reshape(w.slice(w.reshape(v, apart), c.dim + 1, r.begin * c.inner, r.size() * c.inner),
                     part);
  }

  ValueId joined(RegionId at, const Op& op, const Chunked& c,
                 const std::vector<std::vector<ValueId>>& all) {
    Writer& w = edit_.writer(at, op);
    std::vector<ValueId> parts;
    for (const std::vector<ValueId>& one : all) {
      Shape apart = w.type(one[0]).shape;
      apart[c.dim] /= c.outer;
      if (c.outer > 1) apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(c.dim), c.outer);
      parts.push_back(w.reshape(one[0], apart));
    }
    const ValueId together = w.concatenate(parts, c.outer > 1 ? c.dim + 1 : c.dim);
    return w.reshape(together, program_.type_of(op.results).shape);
  }

  Expected<ValueId> write_op(RegionId at, const ChunkedOp& step, std::int64_t chunk,
                             ValueId before) {
    const Op& op = program_.op(step.id);
    std::vector<ValueId> operands(program_.operands(op).begin(), program_.operands(op).end());
    if (op.region_count > 0)
      for (ValueId v : captured_values(program_, op)) operands.push_back(v);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (static_cast<int>(i) == step.from) {
        operands[i] = before;
        continue;
      }
      operands[i] = edit_.now(operands[i]);
      if (step.operands[i]) operands[i] = taken(at, op, operands[i], *step.operands[i], chunk);
    }
    if (op.def->cls == OpClass::communicate) return write_collective(at, op, step, chunk, operands);
    if (!step.result) start_from_nothing(at, op, step, chunk, operands);
    const Chunked* like = nullptr;
    for (const auto& c : step.operands)
      if (c) like = &*c;
    if (like == nullptr) like = &*step.result;
    const Range r = range(*like, chunk);
    std::vector<FactorRange> ranges = all_ranges(step.rule);
    const std::int64_t begin = like->outer == 1 && step.result ? r.begin * step.unit : 0;
    ranges[step.factor] = {begin, like->outer * r.size() * step.unit};
    HEDDLE_TRY(const std::vector<ValueId> results,
               emit_slice(edit_.out(), at, program_, op, step.rule, ranges, operands));
    edit_.locate(at, op);
    return results[0];
  }

  // Of partial results the first alone starts from what is given.
  void start_from_nothing(RegionId at, const Op& op, const ChunkedOp& step, std::int64_t chunk,
                          std::vector<ValueId>& operands) {
    for (std::size_t i = 0; i < op.operand_count && chunk > 0; ++i)
      if (step.rule.operands[i].starts_results)
        operands[i] = edit_.writer(at, op).constant(
            neutral_array(*step.rule.combine.op, edit_.out().type_of(operands[i])));
  }

  Expected<ValueId> write_collective(RegionId at, const Op& op, const ChunkedOp& step,
                                     std::int64_t chunk, const std::vector<ValueId>& operands) {
    Type type = program_.type_of(op.results);
    const Chunked& c = *step.result;
    type.shape[c.dim] = c.outer * range(c, chunk).size() * c.inner;
    std::vector<RegionId> regions;
    ValueMap inside;
    for (RegionId r : program_.regions(op))
      regions.push_back(clone_region(edit_.out(), program_, r, inside));
    AttrDict attrs = copied_attrs(program_, op);
    set_attr(attrs, kApartAttr, Attr{Attr::Unit{}});
    return edit_.writer(at, op).op(op.def->name, {operands[0]}, type, std::move(attrs),
                                   std::move(regions));
  }

  const Program& program_;
  Edit edit_;
  const ChunkPlan plan_;
  const std::int64_t chunks_;
};

}  // namespace

Expected<Rewritten> overlap_chunks(const Program& program, std::uint32_t mesh, OpId first,
                                   OpId last, const ChunkHow& how) {
  if (how.chunks < 2) return reason("one chunk is the whole: name two or more");
  HEDDLE_TRY(const std::vector<OpId> line, line_between(program, first, last));
  for (const OpId id : line)
    if (program.attr(program.op(id), kFusedAttr) != nullptr)
      return reason("{} is fused already, and has chunks of its own",
                    value_text(program, program.op(id).results));
  HEDDLE_TRY(ChunkPlan plan, chunk_plan(program, line, how.chunks, how.dim));
  const auto along = plan.back().result;
  ChunkWriter writer(program, mesh, std::move(plan), how.chunks);
  HEDDLE_TRY(Rewritten all, writer.run());
  const ValueId v = program.op(last).results;
  all.made = {all.values.at(v)};
  all.said = {fmt::format(
      "{} ops in {} chunks, {}", line.size(), how.chunks,
      along ? fmt::format("joined along dimension {}", along->dim) : std::string("summed up"))};
  return all;
}

}  // namespace heddle
