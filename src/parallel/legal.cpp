#include "parallel/legal.h"

#include <algorithm>
#include <array>

#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "ir/rules/scan.h"
#include "parallel/op_parts.h"
#include "parallel/scatter_kinds.h"

namespace heddle {

namespace {

bool touches(const DimRule& dim, std::size_t factor) {
  return std::ranges::any_of(
      dim.terms, [&](const IndexTerm& t) { return static_cast<std::size_t>(t.factor) == factor; });
}

// Windows of a select_and_scatter slide along with this factor.
bool slides(const Op& op, const IndexRule& rule, std::size_t factor) {
  if (op.def->parts != Parts::scatter_windows) return false;
  for (std::size_t i = 0; i < 2; ++i)
    for (const DimRule& dim : rule.operands[i].dims)
      if (touches(dim, factor) && !is_plain(dim, rule.factors, rule.factors[factor].size))
        return true;
  return false;
}

// Whether operand and source are dealt out along with the factor.
bool follows(const Program& program, const Op& op, const IndexRule& rule, std::size_t factor) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape& shape = program.type_of(program.operands(op)[i]).shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      if (touches(dim, factor) && !is_plain(dim, rule.factors, shape[d]) &&
          placing_factor(dim, rule.factors) != static_cast<int>(factor))
        return false;
    }
  }
  return true;
}

// The whole dimension, wherever the piece lies: an update of a slice.
bool takes_all(const DimPiece& one, const DimPiece& two, std::int64_t size) {
  return one.start == 0 && two.start == 0 && one.digits.size() == 1 && one.digits[0].stride == 1 &&
         one.digits[0].size == size;
}

// Whether an operand that counts along the window says of every element of it whether it counts.
bool masks_window(const Program& program, const Op& op, const IndexRule& rule, std::size_t factor) {
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& type = program.type_of(program.operands(op)[i]);
    if (rule.operands[i].outside != Outside::zero) continue;
    for (std::size_t d = 0; d < rule.operands[i].dims.size(); ++d)
      if (touches(rule.operands[i].dims[d], factor) &&
          is_plain(rule.operands[i].dims[d], rule.factors, type.shape[d]))
        return true;
  }
  return false;
}

// Whether parts of windows can be combined as they are: what windows begin with stands for elements
// outside too, on every device.
bool begins_neutral(const Program& program, const Op& op, const IndexRule& rule) {
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (rule.operands[i].starts_results && rule.combine.op &&
        !is_neutral(program, program.operands(op)[i], *rule.combine.op))
      return false;
  return true;
}

// The pieces of the first and of the second device along a factor.
std::optional<std::array<OpPiece, 2>> two_pieces(const Program& program, const Op& op,
                                                 const IndexRule& rule, std::size_t factor,
                                                 const FactorAxes& axes) {
  const IndexRule padded = with_whole_windows(rule, axes);
  std::vector<FactorRange> ranges = all_ranges(padded);
  for (std::size_t f = 0; f < ranges.size(); ++f) {
    const std::int64_t n = total(axes[f]);
    ranges[f].size = (rule.factors[f].size + n - 1) / n;
  }
  auto first = piece_of(program, op, padded, ranges);
  ranges[factor].begin = ranges[factor].size;
  auto second = piece_of(program, op, padded, ranges);
  if (!first || !second) return std::nullopt;
  return std::array{*std::move(first), *std::move(second)};
}

bool same_pieces(const std::vector<DimPiece>& a, const std::vector<DimPiece>& b) {
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d].digits.size() != b[d].digits.size() || a[d].low_margin != b[d].low_margin ||
        a[d].high_margin != b[d].high_margin)
      return false;
    for (std::size_t k = 0; k < a[d].digits.size(); ++k)
      if (a[d].digits[k].size != b[d].digits[k].size ||
          a[d].digits[k].stride != b[d].digits[k].stride)
        return false;
  }
  return true;
}

// Whether all devices run the same op: the first and the second piece are alike.
bool uniform(const Program& program, const Op& op, const IndexRule& rule, std::size_t factor,
             const FactorAxes& axes) {
  if (op.def->edit_piece == nullptr) return true;
  const auto pieces = two_pieces(program, op, rule, factor, axes);
  if (!pieces) return false;
  const OpPiece *first = &(*pieces)[0], *second = &(*pieces)[1];
  if (first->from_whole || second->from_whole) return false;
  if (!(first->attrs == second->attrs) || first->shifts.size() != second->shifts.size())
    return false;
  for (std::size_t i = 0; i < first->operands.size(); ++i) {
    if (!same_pieces(first->operands[i].dims, second->operands[i].dims)) return false;
    if (i >= op.operand_count) continue;
    for (std::size_t d = 0; d < first->operands[i].dims.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      const std::int64_t size = program.type_of(program.operands(op)[i]).shape[d];
      if (!touches(dim, factor) || is_plain(dim, rule.factors, size)) continue;
      const DimPiece &one = first->operands[i].dims[d], &two = second->operands[i].dims[d];
      if (one.digits.size() != 1) return false;
      if (takes_all(one, two, size)) continue;
      const Window window{
          d,         axes[factor],          size,
          one.start, two.start - one.start, (one.digits[0].size - 1) * one.digits[0].stride + 1,
          kNone};
      // What would have to come from everywhere is better brought as a whole, once for all.
      if (!reach_of(window).near) return false;
    }
  }
  for (std::size_t i = 0; i < first->results.size(); ++i)
    if (!same_pieces(first->results[i].dims, second->results[i].dims)) return false;
  for (std::size_t i = 0; i < first->shifts.size(); ++i) {
    const IndexShift &a = first->shifts[i], &b = second->shifts[i];
    if (a.clamps != b.clamps || a.low != b.low || a.high != b.high || a.size != b.size ||
        a.elsewhere != b.elsewhere || (a.factor < 0 && a.begin != b.begin))
      return false;
  }
  return true;
}

// Whether the same op on strided parts gives strided parts.
bool can_be_strided(OnMesh& on, OpId id, const IndexRule& rule, std::size_t factor,
                    const SplitAxes& axes) {
  const Program& program = on.program;
  const Op& op = program.op(id);
  const bool by_rule =
      op.def->parts == Parts::by_rule || (op.def->parts == Parts::reduce_again && rule.combine.op);
  if (op.def->edit_piece != nullptr || !by_rule || on.rules.line(id) ||
      rule.factors[factor].size % spanned(axes) != 0)
    return false;
  auto plain = [&](const std::vector<DimRule>& dims, ValueId v) {
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (touches(dims[d], factor) && !is_plain(dims[d], rule.factors, program.type_of(v).shape[d]))
        return false;
    return true;
  };
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (!plain(rule.operands[i].dims, program.operands(op)[i])) return false;
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (!plain(rule.results[i].dims, program.result(op, i))) return false;
  return true;
}

}  // namespace

// Leaves out splits that the op cannot be written for.
void make_legal(OnMesh& on, OpId id, const IndexRule& rule, FactorAxes& axes) {
  const Program& program = on.program;
  const Op& op = program.op(id);
  auto empty = [&](ValueId v) {
    return program.type_of(v).is_tensor() && program.type_of(v).elements() == 0;
  };
  bool nothing = std::ranges::any_of(program.operands(op), empty);
  for (std::size_t i = 0; i < op.result_count; ++i)
    nothing = nothing || empty(program.result(op, i));
  if (nothing) axes.assign(axes.size(), {});
  for (std::size_t f = 0; f < axes.size(); ++f) {
    if (is_strided(axes[f]) && !can_be_strided(on, id, rule, f, axes[f]))
      axes[f] = leading_axes(axes[f]);
    if (axes[f].empty()) continue;
    const Factor& factor = rule.factors[f];
    const std::int64_t pieces = total(axes[f]);
    const bool even = factor.size % pieces == 0;
    if (joined_factor(program, op) == static_cast<int>(f)) continue;  // see PartWay::concatenated
    if (const auto& line = on.rules.line(id);
        line && line->kind == Line::Kind::transform && line->dim == f) {
      axes[f].clear();
      continue;
    }
    if (slides(op, rule, f)) {
      if (!follows(program, op, rule, f) ||
          !scatter_dim(program, op, rule, f / kScatterFactors, axes[f]))
        axes[f].clear();
      continue;
    }
    bool good =
        factor.kind == FactorKind::parallel ||
        (gives_partial(factor.kind) && (rule.combine.op || op.def->parts == Parts::reduce_again));
    // Beyond the end of a window there are other elements, which only a kernel can leave out.
    if (factor.kind == FactorKind::window && !even)
      good = good && masks_window(program, op, rule, f);
    if (factor.kind == FactorKind::window) good = good && begins_neutral(program, op, rule);
    std::optional<std::array<OpPiece, 2>> two;
    auto all_is_taken = [&](std::size_t operand, std::size_t d, std::int64_t size) {
      if (op.def->edit_piece == nullptr) return false;
      if (!two) two = two_pieces(program, op, rule, f, axes);
      return two && takes_all((*two)[0].operands[operand].dims[d],
                              (*two)[1].operands[operand].dims[d], size);
    };
    auto check = [&](const std::vector<DimRule>& dims, const Type& type, std::size_t value,
                     bool left_out) {
      const bool result = value >= op.operand_count;
      for (std::size_t d = 0; d < dims.size() && good; ++d) {
        if (!touches(dims[d], f)) continue;
        const bool plain = is_plain(dims[d], rule.factors, type.shape[d]);
        if (!plain && (result || left_out ||
                       (placing_factor(dims[d], rule.factors) != static_cast<int>(f) &&
                        !all_is_taken(value, d, type.shape[d]))))
          good = false;
        if (left_out && !even && gives_partial(factor.kind)) good = false;
        // Holes must lie alike in every piece.
        for (const IndexTerm& t : dims[d].terms)
          if (static_cast<std::size_t>(t.factor) == f &&
              t.stride * ((factor.size + pieces - 1) / pieces) % dims[d].dilation != 0)
            good = false;
        // An uneven factor must be the slowest of its dimension.
        if (plain && !even)
          for (const IndexTerm& t : dims[d].terms) {
            if (rule.factors[static_cast<std::size_t>(t.factor)].size == 1) continue;
            if (static_cast<std::size_t>(t.factor) != f) good = false;
            break;
          }
      }
    };
    for (std::size_t i = 0; i < op.operand_count; ++i)
      check(rule.operands[i].dims, program.type_of(program.operands(op)[i]), i,
            rule.operands[i].outside == Outside::left_out);
    // What regions take from around the op is there as a whole.
    for (std::size_t i = op.operand_count; i < rule.operands.size() && good; ++i)
      for (const DimRule& dim : rule.operands[i].dims) good = good && !touches(dim, f);
    for (std::size_t i = 0; i < op.result_count; ++i)
      check(rule.results[i].dims, program.type_of(program.result(op, i)), op.operand_count + i,
            false);
    if (!good || (!on.rules.line(id) && !uniform(program, op, rule, f, axes))) axes[f].clear();
  }
}

// Operands of which every device needs a whole dimension are not split along it.
void take_all_of(OnMesh& on, const Op& op, const IndexRule& rule, Choice& choice) {
  const Program& program = on.program;
  if (op.def->edit_piece == nullptr) return;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    for (std::size_t d = 0; d < rule.operands[i].dims.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      const std::int64_t size = program.type_of(program.operands(op)[i]).shape[d];
      if (on.splits[choice.operands[i]].dims[d].whole() || is_plain(dim, rule.factors, size))
        continue;
      const auto pieces =
          two_pieces(program, op, rule, static_cast<std::size_t>(placing_factor(dim, rule.factors)),
                     choice.axes);
      if (!pieces ||
          !takes_all((*pieces)[0].operands[i].dims[d], (*pieces)[1].operands[i].dims[d], size))
        continue;
      Split split = on.splits[choice.operands[i]];
      split.dims[d].digits.clear();
      choice.operands[i] = on.split_id(std::move(split));
    }
}

}  // namespace heddle
