// select_and_scatter of a padded value, of which the padding is cut off again, as JAX writes the
// gradient of a pooling.
//
// Padding of an op is never selected, and a padded value is: behind a last element that is no
// number. So what pads by itself while layouts are decided is marked, and pads apart again when
// every device has its part.
#include <algorithm>
#include <set>

#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "ir/attr_access.h"
#include "ir/eval/scalar.h"
#include "ir/rewrite.h"
#include "ir/rules/scan.h"
#include "ir/unused.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

constexpr std::string_view kPadsApart = "heddle.pads_apart";

struct PaddedPool {
  const Op* pad = nullptr;
  const Op* pool = nullptr;
};

const Op* maker_of(const Program& program, ValueId v) {
  const OpId id = program.value(v).op;
  return id == kNone ? nullptr : &program.op(id);
}

// Of two elements the first where it is not less.
bool selects_greatest(const Program& program, const Op& pool) {
  const Region& region = program.region(program.regions(pool)[0]);
  if (region.ops.size() != 2) return false;
  const Op& compare = program.op(region.ops[0]);
  const Attr* direction = program.attr(compare, "comparison_direction");
  const auto* word = direction == nullptr ? nullptr : direction->get<Attr::Enum>();
  return word != nullptr && word->word == "GE" && compare.operand_count == 2 &&
         program.operands(compare)[0] == region.args[0] &&
         program.operands(compare)[1] == region.args[1];
}

bool all_zero(const std::vector<std::int64_t>& list) {
  return std::ranges::all_of(list, [](std::int64_t n) { return n == 0; });
}

// Low and high by dimension, one after the other.
std::vector<std::int64_t> padding_of(const Program& program, const Op& pool) {
  const Attr* attr = program.attr(pool, "padding");
  const Array* array = attr == nullptr ? nullptr : attr->get<Array>();
  std::vector<std::int64_t> padding(2 * program.type_of(program.result(pool, 0)).rank());
  for (std::size_t i = 0; array != nullptr && i < padding.size(); ++i)
    padding[i] = to_int64(*array, static_cast<std::int64_t>(i));
  return padding;
}

// The attributes of a pool with another padding; whether it pads apart is said anew too.
AttrDict with_padding(const Program& program, const Op& pool,
                      const std::vector<std::int64_t>& padding, bool pads_apart) {
  AttrDict attrs = program.attrs_of(pool);
  std::erase_if(attrs,
                [](const NamedAttr& a) { return a.name == "padding" || a.name == kPadsApart; });
  const auto rank = static_cast<std::int64_t>(padding.size() / 2);
  attrs.push_back({"padding", Attr{Array(Type::tensor(DType::i64, {rank, 2}),
                                         std::as_bytes(std::span(padding)))}});
  if (pads_apart) attrs.push_back({std::string(kPadsApart), Attr{Attr::Integer{1, "i64"}}});
  std::ranges::sort(attrs, {}, [](const NamedAttr& a) { return std::string_view(a.name); });
  return attrs;
}

// The pool and the pad that a slice takes the value of.
PaddedPool padded_pool(const Program& program, const Op& slice, const std::vector<int>& uses) {
  if (slice.def->rearranges != Rearrange::slice ||
      program.layout_of(program.result(slice, 0)) != nullptr)
    return {};
  const ValueId pooled = program.operands(slice)[0];
  const Op* pool = maker_of(program, pooled);
  if (pool == nullptr || pool->def->parts != Parts::scatter_windows || uses[pooled] != 1 ||
      program.layout_of(pooled) != nullptr || !selects_greatest(program, *pool) ||
      !all_zero(padding_of(program, *pool)))
    return {};
  const Op* pad = maker_of(program, program.operands(*pool)[0]);
  if (pad == nullptr || pad->def->rearranges != Rearrange::pad ||
      !is_neutral(program, program.operands(*pad)[1], ReduceOp::max))
    return {};
  const auto high = integers_or(program.attr(*pad, "edge_padding_high"));
  const bool behind = std::ranges::all_of(high, [](std::int64_t n) { return n >= 0; });
  const bool cut_off =
      program.type_of(program.result(slice, 0)) == program.type_of(program.operands(*pad)[0]) &&
      all_zero(integers_or(program.attr(slice, "start_indices")));
  if (!behind || !cut_off || !all_zero(integers_or(program.attr(*pad, "edge_padding_low"))) ||
      !all_zero(integers_or(program.attr(*pad, "interior_padding"))))
    return {};
  return {pad, pool};
}

// The pool of another image, with such a padding.
Expected<Var> written_pool(Rewriter& rewriter, const Op& pool, Var image, AttrDict attrs) {
  const Program& program = rewriter.from;
  std::vector<RegionId> regions;
  for (RegionId region : program.regions(pool)) {
    HEDDLE_TRY(RegionId made, rewriter.copy_region(region));
    regions.push_back(made);
  }
  const auto operands = program.operands(pool);
  return rewriter.to.ops(pool.def->name,
                         {image, rewriter.value(operands[1]), rewriter.value(operands[2])},
                         {image.type()}, std::move(attrs), regions)[0];
}

Expected<Var> padding_pool(Rewriter& rewriter, const PaddedPool& found) {
  const Program& program = rewriter.from;
  std::vector<std::int64_t> padding;
  for (std::int64_t high : integers_or(program.attr(*found.pad, "edge_padding_high")))
    padding.insert(padding.end(), {0, high});
  return written_pool(rewriter, *found.pool, rewriter.value(program.operands(*found.pad)[0]),
                      with_padding(program, *found.pool, padding, true));
}

// Padded, pooled and cut. Where no window reaches an element its padding is less than none: that
// stays with the pool.
Expected<Var> pool_of_padded(Rewriter& rewriter, const Op& pool) {
  Builder& b = rewriter.to;
  const Var image = rewriter.value(rewriter.from.operands(pool)[0]);
  const Type type = image.type();
  std::vector<std::int64_t> low, high, ends;
  Shape padded = type.shape;
  std::vector<std::int64_t> padding = padding_of(rewriter.from, pool);
  for (std::size_t d = 0; d < type.rank(); ++d) {
    low.push_back(std::max<std::int64_t>(padding[2 * d], 0));
    high.push_back(std::max<std::int64_t>(padding[2 * d + 1], 0));
    ends.push_back(low[d] + type.shape[d]);
    padded[d] += low[d] + high[d];
    padding[2 * d] -= low[d];
    padding[2 * d + 1] -= high[d];
  }
  AttrDict attrs = with_padding(rewriter.from, pool, padding, false);
  if (all_zero(low) && all_zero(high)) return written_pool(rewriter, pool, image, std::move(attrs));
  const Var least = b.constant(neutral_array(ReduceOp::max, Type::tensor(type.dtype, {})));
  const std::vector<std::int64_t> none(type.rank(), 0);
  const Var larger = b.op("pad", {image, least}, Type::tensor(type.dtype, padded),
                          {{"edge_padding_high", Attr{high}},
                           {"edge_padding_low", Attr{low}},
                           {"interior_padding", Attr{none}}});
  HEDDLE_TRY(const Var pooled, written_pool(rewriter, pool, larger, std::move(attrs)));
  return b.slice(pooled, low, ends);
}

}  // namespace

Expected<Program> with_padding_pools(const Program& program) {
  const std::vector<int> uses = use_counts(program);
  std::set<const Op*> gone;  // pools that only slices use
  for (OpId id = 0; id < program.op_count(); ++id)
    if (const PaddedPool found = padded_pool(program, program.op(id), uses); found.pool != nullptr)
      gone.insert(found.pool);
  if (gone.empty()) return program;
  Rewriter rewriter(program, [&](Rewriter& now, const Op& op) -> Expected<bool> {
    if (gone.contains(&op)) return true;
    const PaddedPool found = padded_pool(program, op, uses);
    if (found.pool == nullptr) return false;
    HEDDLE_TRY(const Var pooled, padding_pool(now, found));
    now.define_results(op, {pooled});
    return true;
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  HEDDLE_TRY(const Program written, rewriter.finish());
  return without_unused(written);
}

Expected<Program> with_pads_apart(Program program) {
  bool any = false;
  for (OpId id = 0; id < program.op_count() && !any; ++id)
    any = program.attr(program.op(id), kPadsApart) != nullptr;
  if (!any) return program;
  Rewriter rewriter(program, [&](Rewriter& now, const Op& op) -> Expected<bool> {
    if (program.attr(op, kPadsApart) == nullptr) return false;
    HEDDLE_TRY(const Var pooled, pool_of_padded(now, op));
    now.define_results(op, {pooled});
    return true;
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle
