// What a row needs to make a piece of its op right.
#pragma once

#include "heddle/op.h"
#include "heddle/op_piece.h"

namespace heddle {

struct PieceEdit {
  const Program& program;
  const Op& op;
  const IndexRule& rule;
  std::span<const FactorRange> ranges;
  OpPiece& piece;  // as it follows from the rule; attributes are those of the op

  const FactorRange& range(int factor) const { return ranges[static_cast<std::size_t>(factor)]; }
  std::int64_t size(int factor) const { return range(factor).size; }
  std::int64_t begin(int factor) const { return range(factor).begin; }
  void set(std::string_view name, Attr value);
};

// Divisions that round down and up also below 0.
inline std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return -floor_divide(-a, b); }

// The part of a dimension that a piece touches, counted before the division by its dilation: the
// first and last element, and what lies before and after them.
struct Span {
  std::int64_t first = 0, last = -1;  // elements; none where last < first
  std::int64_t low = 0, high = 0;     // places before the first and after the last
};
Span touched_span(const DimRule& dim, std::span<const FactorRange> ranges);

}  // namespace heddle
