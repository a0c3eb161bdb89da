#include "heddle/op_piece.h"

#include <algorithm>
#include <limits>

#include "ir/clone.h"
#include "ir/eval/index_space.h"
#include "ir/eval/scalar.h"
#include "ir/rules/piece_edit.h"

namespace heddle {

std::int64_t DimPiece::size() const {
  std::int64_t n = low_margin + high_margin;
  std::int64_t inner = 1;
  for (const Digit& digit : digits) inner *= digit.size;
  return n + inner;
}

std::int64_t DimPiece::at(std::int64_t i, std::int64_t extent) const {
  i -= low_margin;
  if (i < 0 || i >= size() - low_margin - high_margin) return -1;
  std::int64_t position = start;
  for (std::size_t d = digits.size(); d-- > 0;) {
    const std::int64_t value = i % digits[d].size;
    i /= digits[d].size;
    if (value >= digits[d].valid) return -1;
    position += value * digits[d].stride;
  }
  return position >= 0 && position < extent ? position : -1;
}

void PieceEdit::set(std::string_view name, Attr value) {
  set_attr(piece.attrs, name, std::move(value));
}

namespace {

// Whether different values of the factors can give one index: windows, and what slides.
bool overlaps(const DimRule& dim, const std::vector<Factor>& factors) {
  std::int64_t reach = 0;  // of the terms so far, the smallest stride first
  std::vector<IndexTerm> terms = dim.terms;
  std::sort(terms.begin(), terms.end(), [](const IndexTerm& a, const IndexTerm& b) {
    return std::abs(a.stride) < std::abs(b.stride);
  });
  for (const IndexTerm& term : terms) {
    const std::int64_t size = factors[static_cast<std::size_t>(term.factor)].size;
    if (size <= 1) continue;
    if (std::abs(term.stride) <= reach) return true;
    reach += std::abs(term.stride) * (size - 1);
  }
  return false;
}

bool is_divided(const IndexTerm& term) { return term.divide != 1 || term.modulo != 0; }

DimPiece contiguous(std::int64_t start, std::int64_t size) {
  return {start, {{size, 1, size}}, 0, 0};
}

// Exactly the elements that the factors' ranges name, in the order of the dimension.
DimPiece picked(const DimRule& dim, const std::vector<Factor>& factors,
                std::span<const FactorRange> ranges) {
  DimPiece piece{dim.offset, {}, 0, 0};
  for (const IndexTerm& term : dim.terms) {
    const FactorRange& range = ranges[static_cast<std::size_t>(term.factor)];
    const std::int64_t left = factors[static_cast<std::size_t>(term.factor)].size - range.begin;
    const bool falls = term.stride < 0;  // then what is beyond the end lies below 0
    piece.start += term.stride * (falls ? range.begin + range.size - 1 : range.begin);
    piece.digits.push_back({range.size, std::abs(term.stride),
                            falls ? range.size : std::clamp<std::int64_t>(left, 0, range.size)});
  }
  return piece;
}

DimPiece dim_piece(const DimRule& dim, const std::vector<Factor>& factors,
                   std::span<const FactorRange> ranges, std::int64_t extent) {
  auto stays_whole = [&](const IndexTerm& term) {
    return factors[static_cast<std::size_t>(term.factor)].kind == FactorKind::whole;
  };
  const bool whole =
      !dim.terms.empty() && std::all_of(dim.terms.begin(), dim.terms.end(), stays_whole);
  if (whole || std::any_of(dim.terms.begin(), dim.terms.end(), is_divided))
    return contiguous(0, extent);
  if (dim.dilation == 1 && !dim.slides && !overlaps(dim, factors))
    return picked(dim, factors, ranges);
  const Span span = touched_span(dim, ranges);
  return contiguous(span.first, std::max<std::int64_t>(span.last - span.first + 1, 0));
}

// Without what lies outside of the dimension.
void leave_out(DimPiece& piece, std::int64_t extent) {
  if (piece.digits.size() != 1 || piece.digits[0].stride != 1) return;
  const std::int64_t first = std::clamp<std::int64_t>(piece.start, 0, extent);
  const std::int64_t end =
      std::clamp<std::int64_t>(piece.start + piece.digits[0].size, first, extent);
  piece = contiguous(first, end - first);
}

const Shape& shape_of(const Program& program, ValueId v) {
  static const Shape none;
  const Type& type = program.type_of(v);
  return type.is_tensor() ? type.shape : none;
}

// Windows end where they end, and so do pieces of what leaves out the rest.
std::vector<FactorRange> clipped(const IndexRule& rule, std::span<const FactorRange> ranges) {
  std::vector<FactorRange> result(ranges.begin(), ranges.end());
  std::vector<bool> ends(ranges.size());
  for (std::size_t f = 0; f < ranges.size(); ++f)
    ends[f] = rule.factors[f].kind == FactorKind::window;
  for (const OperandRule& operand : rule.operands)
    if (operand.outside == Outside::left_out)
      for (const DimRule& dim : operand.dims)
        for (const IndexTerm& term : dim.terms) ends[static_cast<std::size_t>(term.factor)] = true;
  for (std::size_t f = 0; f < ranges.size(); ++f) {
    const std::int64_t left = std::max<std::int64_t>(rule.factors[f].size - ranges[f].begin, 0);
    if (ends[f]) result[f].size = std::min(ranges[f].size, left);
  }
  return result;
}

Verdict can_split(const Op& op, const IndexRule& rule, std::span<const FactorRange> ranges) {
  HEDDLE_CHECK(ranges.size() == rule.factors.size());
  for (std::size_t f = 0; f < ranges.size(); ++f) {
    const Factor& factor = rule.factors[f];
    if (ranges[f].begin < 0 || ranges[f].size < 0)
      return reason("{}: factor {} got {} values from {} on; neither may be negative", op.def->name,
                    f, ranges[f].size, ranges[f].begin);
    const bool all = ranges[f].begin == 0 && ranges[f].size == factor.size;
    if (factor.kind == FactorKind::whole && !all)
      return reason("{}: factor {} of {} must be whole, got [{}, {})", op.def->name, f, rule.str(),
                    ranges[f].begin, ranges[f].begin + ranges[f].size);
    if (factor.kind == FactorKind::window && ranges[f].begin >= factor.size && factor.size > 0)
      return reason("{}: factor {} of {} has no value {}", op.def->name, f, rule.str(),
                    ranges[f].begin);
  }
  return yes();
}

// Marks what follows from results being partial.
void mark_partial(const IndexRule& rule, std::span<const FactorRange> ranges, OpPiece& piece) {
  bool first = true;
  for (std::size_t f = 0; f < ranges.size(); ++f) {
    const FactorKind kind = rule.factors[f].kind;
    if (kind != FactorKind::reduce && kind != FactorKind::window) continue;
    if (ranges[f].begin != 0 || ranges[f].size < rule.factors[f].size) piece.partial = true;
    first = first && ranges[f].begin == 0;
  }
  if (first || !rule.combine.op) return;
  for (std::size_t i = 0; i < piece.operands.size(); ++i)
    piece.operands[i].neutral = rule.operands[i].starts_results;
}

}  // namespace

Span touched_span(const DimRule& dim, std::span<const FactorRange> ranges) {
  std::int64_t low = dim.offset, high = dim.offset;
  for (const IndexTerm& term : dim.terms) {
    const FactorRange& range = ranges[static_cast<std::size_t>(term.factor)];
    if (range.size == 0) return {};
    const std::int64_t a = term.stride * range.begin;
    const std::int64_t b = term.stride * (range.begin + range.size - 1);
    low += std::min(a, b);
    high += std::max(a, b);
  }
  Span span;
  span.first = ceil_divide(low, dim.dilation);
  span.last = floor_divide(high, dim.dilation);
  if (span.last < span.first) {  // nothing but holes
    span.low = high - low + 1;
    return span;
  }
  span.low = span.first * dim.dilation - low;
  span.high = high - span.last * dim.dilation;
  return span;
}

std::vector<FactorRange> all_ranges(const IndexRule& rule) {
  std::vector<FactorRange> ranges;
  for (const Factor& factor : rule.factors) ranges.push_back({0, factor.size});
  return ranges;
}

Expected<OpPiece> piece_of(const Program& program, const Op& op, const IndexRule& rule,
                           std::span<const FactorRange> ranges) {
  HEDDLE_TRY_VOID(can_split(op, rule, ranges));
  const std::vector<FactorRange> kept = clipped(rule, ranges);
  const bool all = kept == all_ranges(rule);
  auto part_of = [&](const DimRule& dim, std::int64_t extent) {
    return all ? contiguous(0, extent) : dim_piece(dim, rule.factors, kept, extent);
  };
  OpPiece piece;
  piece.ranges = kept;
  piece.attrs = copied_attrs(program, op);
  std::vector<ValueId> values(program.operands(op).begin(), program.operands(op).end());
  for (ValueId v : captured_values(program, op)) values.push_back(v);
  for (std::size_t i = 0; i < rule.operands.size(); ++i) {
    const OperandRule& operand = rule.operands[i];
    OperandPiece& part = piece.operands.emplace_back();
    part.outside = operand.outside;
    part.scalar = operand.scalar;
    const Shape& shape = shape_of(program, values[i]);
    for (std::size_t d = 0; d < operand.dims.size(); ++d) {
      part.dims.push_back(part_of(operand.dims[d], shape[d]));
      if (operand.outside == Outside::left_out) leave_out(part.dims.back(), shape[d]);
    }
  }
  for (std::size_t i = 0; i < rule.results.size(); ++i) {
    ResultPiece& part = piece.results.emplace_back();
    const Shape& shape = shape_of(program, program.result(op, i));
    for (std::size_t d = 0; d < rule.results[i].dims.size(); ++d)
      part.dims.push_back(part_of(rule.results[i].dims[d], shape[d]));
  }
  mark_partial(rule, kept, piece);
  PieceEdit edit{program, op, rule, kept, piece};
  if (op.def->edit_piece != nullptr && !all) op.def->edit_piece(edit);
  return piece;
}

Type piece_type(const Type& type, std::span<const DimPiece> dims) {
  Type local = type;
  for (std::size_t d = 0; d < dims.size(); ++d) local.shape[d] = dims[d].size();
  return local;
}

namespace {

// What stands for an element that is not there.
Array filling(const OperandPiece& piece, const Type& type, std::span<const Array> operands,
              const IndexRule& rule) {
  const Type scalar = Type::tensor(type.dtype, {});
  const bool neutral = piece.neutral || piece.outside == Outside::neutral;
  if (neutral && rule.combine.op) return neutral_array(*rule.combine.op, scalar);
  if (piece.outside == Outside::scalar || neutral)
    return Array(scalar, {operands[static_cast<std::size_t>(piece.scalar)].element(0).begin(),
                          operands[static_cast<std::size_t>(piece.scalar)].element(0).end()});
  Array fill(scalar);
  // Something that shows where it is not ignored after all.
  if (piece.outside == Outside::ignored) fill = neutral_array(ReduceOp::product, scalar);
  return fill;
}

}  // namespace

Array take_piece(const OpPiece& piece, std::size_t operand, std::span<const Array> operands,
                 const IndexRule& rule) {
  const OperandPiece& part = piece.operands[operand];
  const Array& whole = operands[operand];
  const Type type = piece_type(whole.type(), part.dims);
  const auto size = static_cast<std::size_t>(byte_size(type.dtype));
  Array taken(type);
  if (taken.elements() == 0) return taken;
  const Array fill = filling(part, type, operands, rule);
  const Index strides = row_major_strides(whole.shape());
  std::byte* to = taken.mutable_bytes().data();
  for (IndexWalk at(type.shape); at; ++at, to += size) {
    std::int64_t flat = part.neutral ? -1 : 0;
    for (std::size_t d = 0; d < part.dims.size() && flat >= 0; ++d) {
      const std::int64_t position = part.dims[d].at(at[d], whole.shape()[d]);
      flat = position < 0 ? -1 : flat + position * strides[d];
    }
    const auto element = flat < 0 ? fill.element(0) : whole.element(flat);
    std::memcpy(to, element.data(), size);
  }
  return taken;
}

void put_piece(const ResultPiece& piece, const Array& part, Array& whole) {
  const auto size = static_cast<std::size_t>(byte_size(whole.dtype()));
  const Index strides = row_major_strides(whole.shape());
  std::int64_t from = 0;
  for (IndexWalk at(part.shape()); at; ++at, ++from) {
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < piece.dims.size() && flat >= 0; ++d) {
      const std::int64_t position =
          piece.dims[d].at(at[d] + piece.dims[d].low_margin, whole.shape()[d]);
      flat = position < 0 ? -1 : flat + position * strides[d];
    }
    if (flat < 0) continue;
    const auto element = part.element(from);
    std::memcpy(whole.mutable_bytes().data() + static_cast<std::size_t>(flat) * size,
                element.data(), size);
  }
}

namespace {

template <typename T>
T neutral_scalar(ReduceOp op) {
  if constexpr (BoolScalar<T>) {
    return T(op == ReduceOp::product || op == ReduceOp::min || op == ReduceOp::logical_and);
  } else if constexpr (ComplexScalar<T>) {
    return op == ReduceOp::product ? T(1) : T(0);
  } else if constexpr (FloatScalar<T>) {
    const double infinity = std::numeric_limits<double>::infinity();
    switch (op) {
      case ReduceOp::product:
        return convert_scalar<T>(1.0);
      case ReduceOp::min:
        return convert_scalar<T>(infinity);
      case ReduceOp::max:
        return convert_scalar<T>(-infinity);
      default:
        return convert_scalar<T>(0.0);
    }
  } else {
    switch (op) {
      case ReduceOp::product:
        return convert_scalar<T>(std::int64_t{1});
      case ReduceOp::min:
        return std::numeric_limits<T>::max();
      case ReduceOp::max:
        return std::numeric_limits<T>::min();
      case ReduceOp::logical_and:
        return convert_scalar<T>(std::int64_t{-1});
      default:
        return convert_scalar<T>(std::int64_t{0});
    }
  }
}

}  // namespace

Array neutral_array(ReduceOp op, const Type& type) {
  return dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = neutral_scalar<T>(op);
    return Array::splat(type, std::as_bytes(std::span(&value, 1)));
  });
}

}  // namespace heddle
