// Which splits of an op's factors one program for all devices can be written for.
#include <algorithm>

#include "spmd/partitioner.h"

namespace heddle {

namespace {

bool touches(const DimRule& dim, std::size_t factor) {
  return std::ranges::any_of(
      dim.terms, [&](const IndexTerm& t) { return static_cast<std::size_t>(t.factor) == factor; });
}

}  // namespace

// Leaves out splits that the op cannot be written for.
void Partitioner::make_legal(OpId id, const IndexRule& rule, FactorAxes& axes) {
  const Op& op = from_.op(id);
  auto empty = [&](ValueId v) { return type_of(v).is_tensor() && type_of(v).elements() == 0; };
  bool nothing = std::ranges::any_of(from_.operands(op), empty);
  for (std::size_t i = 0; i < op.result_count; ++i) nothing = nothing || empty(from_.result(op, i));
  if (nothing) axes.assign(axes.size(), {});
  for (std::size_t f = 0; f < axes.size(); ++f) {
    if (axes[f].empty()) continue;
    const Factor& factor = rule.factors[f];
    const std::int64_t pieces = total(axes[f]);
    const bool even = factor.size % pieces == 0;
    if (joined_factor(from_, op) == static_cast<int>(f)) continue;  // see write_concatenate
    bool good = factor.kind == FactorKind::parallel ||
                (factor.kind == FactorKind::reduce && rule.combine.op.has_value());
    auto check = [&](const std::vector<DimRule>& dims, const Type& type, bool result,
                     bool left_out) {
      for (std::size_t d = 0; d < dims.size() && good; ++d) {
        if (!touches(dims[d], f)) continue;
        const bool plain = is_plain(dims[d], rule.factors, type.shape[d]);
        if (!plain &&
            (result || left_out || placing_factor(dims[d], rule.factors) != static_cast<int>(f)))
          good = false;
        if (left_out && !even && factor.kind == FactorKind::reduce) good = false;
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
      check(rule.operands[i].dims, type_of(from_.operands(op)[i]), false,
            rule.operands[i].outside == Outside::left_out);
    // What regions take from around the op is there as a whole.
    for (std::size_t i = op.operand_count; i < rule.operands.size() && good; ++i)
      for (const DimRule& dim : rule.operands[i].dims) good = good && !touches(dim, f);
    for (std::size_t i = 0; i < op.result_count; ++i)
      check(rule.results[i].dims, type_of(from_.result(op, i)), true, false);
    if (!good || (!rules_.line(id) && !uniform(op, rule, f, axes))) axes[f].clear();
  }
}

namespace {

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

}  // namespace

// Whether all devices run the same op: the first and the second piece are alike.
bool Partitioner::uniform(const Op& op, const IndexRule& rule, std::size_t factor,
                          const FactorAxes& axes) {
  if (op.def->edit_piece == nullptr) return true;
  std::vector<FactorRange> ranges = all_ranges(rule);
  for (std::size_t f = 0; f < ranges.size(); ++f) {
    const std::int64_t n = total(axes[f]);
    ranges[f].size = (rule.factors[f].size + n - 1) / n;
  }
  auto first = piece_of(from_, op, rule, ranges);
  ranges[factor].begin = ranges[factor].size;
  auto second = piece_of(from_, op, rule, ranges);
  if (!first || !second || first->from_whole || second->from_whole) return false;
  if (!(first->attrs == second->attrs) || first->shifts.size() != second->shifts.size())
    return false;
  for (std::size_t i = 0; i < first->operands.size(); ++i) {
    if (!same_pieces(first->operands[i].dims, second->operands[i].dims)) return false;
    if (i >= op.operand_count) continue;
    for (std::size_t d = 0; d < first->operands[i].dims.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      const std::int64_t size = type_of(from_.operands(op)[i]).shape[d];
      if (!touches(dim, factor) || is_plain(dim, rule.factors, size)) continue;
      const DimPiece &one = first->operands[i].dims[d], &two = second->operands[i].dims[d];
      if (one.digits.size() != 1) return false;
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

}  // namespace heddle
