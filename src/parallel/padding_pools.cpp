// select_and_scatter of a padded value, of which the padding is cut off again, as JAX writes the
// gradient of a pooling.
#include <algorithm>
#include <set>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/eval/scalar.h"
#include "ir/rewrite.h"
#include "ir/rules/scan.h"
#include "ir/unused.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

struct PaddedPool {
  const Op* pad = nullptr;
  const Op* pool = nullptr;
};

const Op* maker_of(const Program& program, ValueId v) {
  const OpId id = program.value(v).op;
  return id == kNone ? nullptr : &program.op(id);
}

// Of two elements the first where it is not less: what is padded behind is never selected, but for
// windows whose last element is no number.
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

// The pool and the pad that a slice takes the value of.
PaddedPool padded_pool(const Program& program, const Op& slice, const std::vector<int>& uses) {
  if (slice.def->rearranges != Rearrange::slice ||
      program.layout_of(program.result(slice, 0)) != nullptr)
    return {};
  const ValueId pooled = program.operands(slice)[0];
  const Op* pool = maker_of(program, pooled);
  if (pool == nullptr || pool->def->parts != Parts::scatter_windows || uses[pooled] != 1 ||
      program.layout_of(pooled) != nullptr || !selects_greatest(program, *pool))
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

// The padding of the pool with that of the pad.
Attr joined_padding(const Program& program, const PaddedPool& found) {
  const auto high = integers_or(program.attr(*found.pad, "edge_padding_high"));
  const auto rank = static_cast<std::int64_t>(high.size());
  Array both(Type::tensor(DType::i64, {rank, 2}));
  const Attr* given = program.attr(*found.pool, "padding");
  const Array* before = given == nullptr ? nullptr : given->get<Array>();
  for (std::int64_t i = 0; i < 2 * rank; ++i) {
    const std::int64_t more = i % 2 == 0 ? 0 : high[static_cast<std::size_t>(i / 2)];
    both.as_mutable<std::int64_t>()[static_cast<std::size_t>(i)] =
        (before == nullptr ? 0 : to_int64(*before, i)) + more;
  }
  return Attr{std::move(both)};
}

Expected<Var> written_pool(Rewriter& rewriter, const PaddedPool& found) {
  const Program& program = rewriter.from;
  std::vector<RegionId> regions;
  for (RegionId region : program.regions(*found.pool)) {
    HEDDLE_TRY(RegionId made, rewriter.copy_region(region));
    regions.push_back(made);
  }
  AttrDict attrs = program.attrs_of(*found.pool);
  std::erase_if(attrs, [](const NamedAttr& a) { return a.name == "padding"; });
  attrs.push_back({"padding", joined_padding(program, found)});
  std::ranges::sort(attrs, {}, [](const NamedAttr& a) { return std::string_view(a.name); });
  const auto operands = program.operands(*found.pool);
  const Var image = rewriter.value(program.operands(*found.pad)[0]);
  return rewriter.to.ops(found.pool->def->name,
                         {image, rewriter.value(operands[1]), rewriter.value(operands[2])},
                         {image.type()}, std::move(attrs), regions)[0];
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
    HEDDLE_TRY(const Var pooled, written_pool(now, found));
    now.define_results(op, {pooled});
    return true;
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  HEDDLE_TRY(const Program written, rewriter.finish());
  return without_unused(written);
}

}  // namespace heddle
