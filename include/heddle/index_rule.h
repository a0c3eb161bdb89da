// IndexRule: which elements of its operands each element of an op's results depends on.
//
// An op runs over a space of factors, which are named loop indices. Every dimension of every
// operand and result is written in these factors: its index is a sum of them. Layout propagation,
// the op that one device runs on its piece, halos, partial results and the mapping onto threads all
// follow from this one rule.
//
//   dot_general    [b i k] [b k j] -> [b i j]     k: reduce, sum
//   slice          [2+3*i] -> [i]                 i: parallel
//   reduce_window  [2*i+w-1] [] -> [i]            i: parallel, w: window, max
//   sort           [s] -> [t]                     s, t: whole
//
// An element r of a result depends on an element x of an operand exactly where the factors have
// values for which the result's index is r and the operand's is x.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/layout.h"
#include "heddle/program.h"

namespace heddle {

enum class FactorKind : std::uint8_t {
  parallel,  // in results; pieces have nothing to do with each other but for halos
  reduce,    // in operands only; pieces give partial results, which `combine` makes one
  window,    // as reduce, but it shares a dimension with another factor, so that pieces overlap
  whole,     // must not be split
};
std::string_view name(FactorKind kind);

struct Factor {
  std::int64_t size = 1;
  FactorKind kind = FactorKind::parallel;
};

// By its number: a, b, …, z, a1, b1, …
std::string factor_name(int factor);

// stride * ((value of the factor / divide) % modulo); modulo 0 leaves the remainder out.
// Only whole factors are divided: a reshape in which sizes do not nest.
struct IndexTerm {
  int factor = 0;
  std::int64_t stride = 1;
  std::int64_t divide = 1, modulo = 0;
};

// (offset + Σ terms) / dilation. Where this is no whole number, or lies outside of the dimension,
// there is no element: what is read then stands in OperandRule::outside.
struct DimRule {
  std::vector<IndexTerm> terms;  // major before minor
  std::int64_t offset = 0;
  std::int64_t dilation = 1;
  bool slides = false;  // a window: pieces take all from the first element to the last
};

// What an operand reads as where its index lies outside, or beyond the end of a factor.
enum class Outside : std::uint8_t {
  ignored,  // any value: nothing that is kept depends on it
  zero,
  neutral,  // what the combination leaves as it is; the scalar operand `scalar` where it is unknown
  scalar,   // the scalar operand `scalar`
  left_out  // pieces end there: a piece of this operand has only elements that exist
};

// When an operand counts at all, by whether another operand has an element there.
enum class When : std::uint8_t { always, inside, outside };

struct OperandRule {
  std::vector<DimRule> dims;
  Outside outside = Outside::ignored;
  int scalar = -1;
  // Where results are partial, only the first piece takes this operand; others take neutral values.
  bool starts_results = false;
  When when = When::always;
  int other = -1;  // the operand that `when` asks about
};

struct ResultRule {
  std::vector<DimRule> dims;
  std::vector<int> independent_of;  // operands that this result does not depend on
};

// How partial results become one: by a known operation, or by the op's own region 0.
struct Combine {
  std::optional<ReduceOp> op;
};

struct IndexRule {
  std::vector<Factor> factors;
  // The op's operands, then the values that its regions take from around the op.
  std::vector<OperandRule> operands;
  std::vector<ResultRule> results;
  Combine combine;

  // One line: "[a b d] [a d c] -> [a b c]; parallel a=2 b=3 c=4; reduce by sum: d=5". Each bracket
  // is an operand or result, with the index of each dimension in factors.
  std::string str() const;
};

// The rule of an op that the verifier has passed. An op without one in its row is whole.
IndexRule index_rule(const Program& program, const Op& op);

// The values that the regions of an op use and do not define, in the order of their first use.
std::vector<ValueId> captured_values(const Program& program, const Op& op);

}  // namespace heddle
