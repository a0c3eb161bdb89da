#include "schedule/steps/op_slices.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/clone.h"

namespace heddle {

std::optional<LeadingFactor> leading_factor(const DimRule& dim, const IndexRule& rule) {
  if (dim.terms.empty() || dim.offset != 0 || dim.dilation != 1 || dim.slides) return {};
  std::int64_t inner = 1;
  for (std::size_t i = dim.terms.size(); i-- > 0;) {
    const IndexTerm& term = dim.terms[i];
    if (term.divide != 1 || term.modulo != 0 || term.stride != inner) return {};
    if (i > 0) inner *= rule.factors[static_cast<std::size_t>(term.factor)].size;
  }
  return LeadingFactor{static_cast<std::size_t>(dim.terms[0].factor), inner};
}

namespace {

// The dimension that the factor counts blocks of; none where it is not there.
Expected<std::optional<SlicedDim>> dim_of_factor(const std::vector<DimRule>& dims, const Type& type,
                                                 const IndexRule& rule, std::size_t factor,
                                                 std::int64_t block) {
  std::optional<SlicedDim> found;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const bool is_there = std::ranges::any_of(dims[d].terms, [&](const IndexTerm& term) {
      return static_cast<std::size_t>(term.factor) == factor;
    });
    if (!is_there) continue;
    const auto leads = leading_factor(dims[d], rule);
    const bool is_all = leads && rule.factors[leads->factor].size * leads->inner == type.shape[d];
    if (found || !is_all || leads->factor != factor)
      return reason("its slices do not lie behind one another ({})", rule.str());
    found = SlicedDim{d, rule.factors[factor].size * leads->inner, block * leads->inner};
  }
  return found;
}

// What stands around the elements in other dimensions is the same for every slice.
bool is_as_it_is(const Op& op) { return op.def->rearranges == Rearrange::pad; }

// Whether the piece takes nothing but the parts of its operands that are in their slices.
bool takes_slices_only(const OpPiece& piece, const OpSlices& slices,
                       const std::vector<const Type*>& types) {
  for (std::size_t i = 0; i < piece.operands.size(); ++i)
    for (std::size_t d = 0; d < piece.operands[i].dims.size(); ++d) {
      const DimPiece& dim = piece.operands[i].dims[d];
      const bool is_cut = slices.operands[i] && slices.operands[i]->dim == d;
      const std::int64_t size = is_cut ? slices.operands[i]->block : types[i]->shape[d];
      if (dim.start != 0 || dim.low_margin != 0 || dim.high_margin != 0 || dim.size() != size)
        return false;
    }
  return true;
}

std::string_view why_whole(const Op& op) {
  switch (op.def->cls) {
    case OpClass::opaque:
      return "nothing is known of it";
    case OpClass::control:
      return "it is done as a whole";
    default:
      return op.def->draws || op.def->bits ? "it draws random numbers for all of its result" : "";
  }
}

Verdict check_kind(const Op& op, const IndexRule& rule, std::size_t factor) {
  switch (rule.factors[factor].kind) {
    case FactorKind::parallel:
      return yes();
    case FactorKind::reduce:
      if (rule.combine.op && op.def->parts != Parts::lookup) return yes();
      return reason("what slices of it give cannot be combined ({})", rule.str());
    case FactorKind::window:
      return reason("its windows reach into other slices ({})", rule.str());
    case FactorKind::whole:
      break;
  }
  return reason("it needs this dimension as a whole ({})", rule.str());
}

// Parts of results that are there as a whole do not depend on what is sliced.
bool is_apart(const OpSlices& slices, std::size_t result) {
  const std::vector<int>& apart = slices.rule.results[result].independent_of;
  for (std::size_t i = 0; i < slices.operands.size(); ++i)
    if (slices.operands[i] && std::ranges::find(apart, static_cast<int>(i)) == apart.end())
      return false;
  return true;
}

}  // namespace

Expected<OpSlices> slices_by_factor(const Program& program, const Op& op, IndexRule rule,
                                    std::size_t factor, std::int64_t block) {
  if (const std::string_view why = why_whole(op); !why.empty())
    return reason("{}: {}", op.def->short_name(), why);
  if (const Verdict kind = check_kind(op, rule, factor); !kind)
    return reason("{}: {}", op.def->short_name(), kind.reason());
  OpSlices slices{std::move(rule), factor, block, {}, {}, false};
  const IndexRule& of = slices.rule;
  std::vector<ValueId> values(program.operands(op).begin(), program.operands(op).end());
  if (op.region_count > 0)
    for (ValueId v : captured_values(program, op)) values.push_back(v);
  for (std::size_t i = 0; i < of.operands.size(); ++i) {
    const Type& type = program.type_of(values[i]);
    const auto dim = dim_of_factor(of.operands[i].dims, type, of, factor, block);
    if (!dim) return reason("{}: {}", op.def->short_name(), dim.reason());
    slices.operands.push_back(*dim);
  }
  for (std::size_t i = 0; i < of.results.size(); ++i) {
    const Type& type = program.type_of(program.result(op, i));
    const auto dim = dim_of_factor(of.results[i].dims, type, of, factor, block);
    if (!dim) return reason("{}: {}", op.def->short_name(), dim.reason());
    slices.results.push_back(*dim);
  }
  slices.partial = of.factors[factor].kind == FactorKind::reduce;
  for (std::size_t i = 0; i < slices.results.size() && !slices.partial; ++i)
    if (!slices.results[i] && !is_apart(slices, i))
      return reason("{}: a result depends on all slices ({})", op.def->short_name(), of.str());
  std::vector<FactorRange> ranges = all_ranges(of);
  ranges[factor].size = block;
  HEDDLE_TRY(const OpPiece piece, piece_of(program, op, of, ranges));
  if (piece.from_whole) return reason("{}: it is computed as a whole", op.def->short_name());
  if (is_as_it_is(op)) return slices;
  std::vector<const Type*> types;
  for (ValueId v : values) types.push_back(&program.type_of(v));
  if (!takes_slices_only(piece, slices, types))
    return reason("{}: its slices take more than slices ({})", op.def->short_name(), of.str());
  return slices;
}

Expected<std::vector<ValueId>> emit_slice(Program& out, RegionId at, const Program& program,
                                          const Op& op, const IndexRule& rule,
                                          std::span<const FactorRange> ranges,
                                          std::span<const ValueId> operands,
                                          std::span<const ValueId> begins) {
  HEDDLE_TRY(const OpPiece piece, piece_of(program, op, rule, ranges));
  if (!is_as_it_is(op)) return emit_piece(out, at, program, op, rule, piece, operands, begins);
  const Type& whole = program.type_of(op.results);
  const TypeId type = out.intern(piece_type(whole, piece.results[0].dims));
  const OpId made = out.add_op(at, *op.def, operands, {&type, 1}, copied_attrs(program, op));
  return std::vector<ValueId>{out.result(out.op(made), 0)};
}

namespace {

Expected<OpSlices> slices_of(const Program& program, const Op& op, IndexRule rule,
                             const DimRule& dim, const SlicedDim& sliced) {
  const auto leads = leading_factor(dim, rule);
  if (!leads)
    return reason("{}: slices of dimension {} are none of its own ({})", op.def->short_name(),
                  sliced.dim, rule.str());
  if (sliced.block % leads->inner != 0)
    return reason("{}: slices of {} elements would cut blocks of {} that stay together ({})",
                  op.def->short_name(), sliced.block, leads->inner, rule.str());
  return slices_by_factor(program, op, std::move(rule), leads->factor, sliced.block / leads->inner);
}

}  // namespace

Expected<OpSlices> slices_of_operand(const Program& program, const Op& op, std::size_t operand,
                                     const SlicedDim& sliced) {
  IndexRule rule = index_rule(program, op);
  const DimRule dim = rule.operands[operand].dims[sliced.dim];
  return slices_of(program, op, std::move(rule), dim, sliced);
}

Expected<OpSlices> slices_of_result(const Program& program, const Op& op, std::size_t result,
                                    const SlicedDim& sliced) {
  IndexRule rule = index_rule(program, op);
  const DimRule dim = rule.results[result].dims[sliced.dim];
  return slices_of(program, op, std::move(rule), dim, sliced);
}

}  // namespace heddle
