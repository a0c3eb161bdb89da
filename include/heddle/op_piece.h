// The op that computes one piece of its own iteration space, as its index rule says.
#pragma once

#include <span>

#include "heddle/array.h"
#include "heddle/index_rule.h"

namespace heddle {

// Values [begin, begin + size) of a factor. The last piece of an uneven split may reach beyond the
// end, so that all pieces have one size.
struct FactorRange {
  std::int64_t begin = 0, size = 0;
  friend bool operator==(const FactorRange&, const FactorRange&) = default;
};

// Which positions of a dimension a piece has, in order: start + Σ digit * stride, with the last
// digit the fastest. Positions outside of the dimension, digits beyond `valid` and the margins hold
// no element of the dimension.
struct DimPiece {
  struct Digit {
    std::int64_t size = 1, stride = 1, valid = 1;
  };
  std::int64_t start = 0;
  std::vector<Digit> digits;
  std::int64_t low_margin = 0, high_margin = 0;

  std::int64_t size() const;
  // The position in a dimension of `extent` elements, or -1 where there is none.
  std::int64_t at(std::int64_t i, std::int64_t extent) const;
};

// Indices of a gather or scatter are for the whole operand; a piece of it counts from its start.
// Component `component` along `dim` of the indices (all of it where dim is -1) becomes
// min(max(index, low), high) - begin where that lies in [0, size), and `elsewhere` otherwise.
struct IndexShift {
  int operand = 0;
  int dim = -1;
  std::int64_t component = 0;
  bool clamps = false;
  std::int64_t low = 0, high = 0;
  std::int64_t begin = 0;
  int factor = -1;                   // whose start `begin` moves along with; -1: none
  std::optional<std::int64_t> size;  // none: only shifted
  std::int64_t elsewhere = 0;
};

struct OperandPiece {
  std::vector<DimPiece> dims;
  Outside outside = Outside::ignored;
  int scalar = -1;
  bool neutral = false;  // neutral values instead of the operand's
};

struct ResultPiece {
  // Where the piece's elements go; the margins are computed and dropped.
  std::vector<DimPiece> dims;
};

struct OpPiece {
  std::vector<FactorRange> ranges;  // that it is for
  std::vector<OperandPiece> operands;
  std::vector<ResultPiece> results;
  AttrDict attrs;
  std::vector<IndexShift> shifts;
  std::int64_t add = 0;     // to every element of the result: iota
  int add_factor = -1;      // whose start `add` is; -1: none
  bool from_whole = false;  // the whole result is computed, and the piece taken from it
  bool partial = false;     // results are to be combined with those of the other pieces
};

// `ranges` has one range per factor. A reason where a factor that must be whole is split.
Expected<OpPiece> piece_of(const Program& program, const Op& op, const IndexRule& rule,
                           std::span<const FactorRange> ranges);

// All of every factor.
std::vector<FactorRange> all_ranges(const IndexRule& rule);

// The types that a piece takes and gives, margins of results included.
Type piece_type(const Type& type, std::span<const DimPiece> dims);

// The elements of an operand that a piece takes. `operands` are all of the op's.
Array take_piece(const OpPiece& piece, std::size_t operand, std::span<const Array> operands,
                 const IndexRule& rule);
// Writes a piece of a result to where it belongs.
void put_piece(const ResultPiece& piece, const Array& part, Array& whole);

// Appends to a region of `out` what computes the piece from pieces of the operands. Where the piece
// is known only when it runs, `begins` has for each factor how much further it begins than the
// piece says: a scalar of i64, or kNone.
Expected<std::vector<ValueId>> emit_piece(Program& out, RegionId at, const Program& program,
                                          const Op& op, const IndexRule& rule, const OpPiece& piece,
                                          std::span<const ValueId> operands,
                                          std::span<const ValueId> begins = {});
// Appends what makes one result out of the partial ones of several pieces; `partials[p][i]` is
// result i of piece p.
std::vector<ValueId> emit_combined(Program& out, RegionId at, const Program& program, const Op& op,
                                   const IndexRule& rule,
                                   std::span<const std::vector<ValueId>> partials,
                                   std::span<const ValueId> operands);

// What `op` leaves as it is: 0 for a sum, -inf for a maximum.
Array neutral_array(ReduceOp op, const Type& type);

}  // namespace heddle
