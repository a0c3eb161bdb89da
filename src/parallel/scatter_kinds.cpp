#include "parallel/scatter_kinds.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ir/eval/reduce_window.h"
#include "ir/rules/piece_edit.h"

namespace heddle {

namespace {

bool same(const DimPiece& a, std::int64_t a_shift, const DimPiece& b, std::int64_t b_shift) {
  return a.start - a_shift == b.start - b_shift && a.size() == b.size() &&
         a.low_margin == b.low_margin && a.high_margin == b.high_margin;
}

}  // namespace

Expected<OpPiece> scatter_piece(const Program& program, const Op& op, const IndexRule& rule,
                                const FactorAxes& axes, const std::vector<ScatterDim>& dims,
                                const std::vector<std::int64_t>& at) {
  std::vector<FactorRange> ranges = all_ranges(rule);
  for (std::size_t f = 0; f < ranges.size(); ++f)
    ranges[f].size = (rule.factors[f].size + total(axes[f]) - 1) / total(axes[f]);
  for (std::size_t k = 0; k < dims.size(); ++k)
    ranges[kScatterFactors * dims[k].dim].begin = at[k] * dims[k].block;
  return piece_of(program, op, rule, ranges);
}

namespace {

// Which devices have pieces of one kind, as told by those that are looked at: those between are
// like the ones before and behind with the same remainder. False where these differ.
bool find_kinds(const Program& program, const Op& op, const IndexRule& rule, ScatterDim& dim) {
  FactorAxes alone(rule.factors.size());
  alone[kScatterFactors * dim.dim] = dim.taken[0].axes;
  std::vector<OpPiece> pieces;  // of each kind
  auto alike = [&](const OpPiece& a, std::int64_t i, const OpPiece& b, std::int64_t j) {
    for (std::size_t k = 0; k < 2; ++k)
      if (!same(a.operands[k].dims[dim.dim], start_of(dim.taken[k], i), b.operands[k].dims[dim.dim],
                start_of(dim.taken[k], j)))
        return false;
    return same(a.results[0].dims[dim.dim], i * dim.block, b.results[0].dims[dim.dim],
                j * dim.block) &&
           a.attrs == b.attrs;
  };
  std::int64_t before = -1, like_before = 0;
  for (std::int64_t i : dim.looked_at) {
    auto piece = scatter_piece(program, op, rule, alone, {dim}, {i});
    if (!piece) return false;
    std::size_t kind = 0;
    while (kind < pieces.size() && !alike(pieces[kind], dim.kinds[kind], *piece, i)) ++kind;
    if (kind == pieces.size()) {
      pieces.push_back(*std::move(piece));
      dim.kinds.push_back(i);
    }
    if (before >= 0 && i != before + 1) {
      if (std::ranges::count(dim.runs.back().kinds, -1) != 0) return false;
      like_before = dim.period;
    }
    const auto rest = static_cast<std::size_t>(i % dim.period);
    const auto known = static_cast<std::int64_t>(kind);
    auto fits = [&] {
      const std::int64_t said = dim.runs.back().kinds[rest];
      return said == -1 || said == known;
    };
    if (dim.runs.empty() || !fits()) {
      if (like_before > 0) return false;
      dim.runs.push_back({i, std::vector<std::int64_t>(static_cast<std::size_t>(dim.period), -1)});
    }
    dim.runs.back().kinds[rest] = known;
    before = i;
    --like_before;
  }
  return true;
}

}  // namespace

// Which elements of the operand and of the source a device takes, with all windows that could reach
// its part. Nothing where they are not near, or of too many kinds.
std::optional<ScatterDim> scatter_dim(const Program& program, const Op& op, const IndexRule& rule,
                                      std::size_t dim, const SplitAxes& axes) {
  constexpr std::int64_t kMostPeriod = 4;
  const reduction::WindowAxis axis = reduction::window_of(program, op)[dim];
  const std::int64_t stride = axis.stride, pieces = total(axes);
  const std::int64_t places = program.type_of(program.operands(op)[1]).shape[dim];
  ScatterDim found;
  found.dim = dim;
  found.block = (axis.input + pieces - 1) / pieces;
  found.period = stride / std::gcd(found.block, stride);
  if (found.period > kMostPeriod) return {};
  // Of all parts, the first and last window and what they cover, from the part's own begin on.
  std::int64_t first = INT64_MAX, last = INT64_MIN, begin = 0, end = found.block;
  for (std::int64_t i = 0; i < found.period; ++i) {
    const std::int64_t low = i * found.block, at = low / stride;
    const std::int64_t from = ceil_divide(low + axis.pad_low - axis.window + 1, stride);
    const std::int64_t to = floor_divide(low + found.block - 1 + axis.pad_low, stride);
    first = std::min(first, from - at);
    last = std::max(last, to - at);
    begin = std::min(begin, from * stride - axis.pad_low - low);
    end = std::max(end, to * stride - axis.pad_low + axis.window - low);
  }
  found.taken[0] = {dim, axes, axis.input, begin, found.block, end - begin, kNone, 1};
  const std::int64_t every = found.period == 1 ? 1 : stride;
  found.taken[1] = {dim,
                    axes,
                    places,
                    first,
                    found.period == 1 ? found.block / stride : found.block,
                    last - first + 1,
                    kNone,
                    every};
  if (!reach_of(found.taken[0]).near || !reach_of(found.taken[1]).near) return {};
  // Only near the ends of both are there other pieces than in the middle.
  std::set<std::int64_t> looked_at;
  for (std::int64_t centre : {std::int64_t{0}, axis.input / found.block,
                              floor_divide((places - 1 - last) * stride, found.block), pieces - 1})
    for (std::int64_t i = centre - 2 - found.period; i <= centre + 2 + found.period; ++i)
      if (i >= 0 && i < pieces) looked_at.insert(i);
  found.looked_at.assign(looked_at.begin(), looked_at.end());
  if (!find_kinds(program, op, rule, found)) return {};
  return found;
}

std::vector<ScatterDim> scatter_dims(const Program& program, const Op& op, const IndexRule& rule,
                                     const Choice& choice) {
  std::vector<ScatterDim> dims;
  for (std::size_t d = 0; d < rule.results[0].dims.size(); ++d) {
    const SplitAxes& axes = choice.axes[kScatterFactors * d];
    const std::int64_t size = program.type_of(program.operands(op)[0]).shape[d];
    if (axes.empty() || (is_plain(rule.operands[0].dims[d], rule.factors, size) &&
                         is_plain(rule.operands[1].dims[d], rule.factors, size)))
      continue;
    dims.push_back(*scatter_dim(program, op, rule, d, axes));
  }
  return dims;
}

}  // namespace heddle
