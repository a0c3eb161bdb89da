// Tables that machine code looks numbers up in: rows of four doubles, which it knows by name.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "kernel/emit_llvm_floats.h"

namespace heddle {

using TableRow = std::array<double, 4>;

struct CodeTable {
  std::string_view name;
  std::span<const TableRow> rows;  // aligned to 32 bytes
};

// All there are, for whoever links the code.
std::span<const CodeTable> code_tables();

// Quarters of a turn of 2^exponent, less such multiples that give whole turns of any f64 with that
// exponent: a sum of four parts, multiples of 4, 2^-50, 2^-103 and 2^-156. Exponents from
// kFirstQuarters on; the last row, of infinities and NaN, is NaN.
inline constexpr std::string_view kQuartersTable = "heddle_quarters";
inline constexpr int kFirstQuarters = -28;

// 64 bits of 1 / 2 pi, of weights 2^-first and below.
std::uint64_t bits_of_turns(int first);

// Inverses of numbers from 1 - 150/512 on, which is next to sqrt(1/2), to twice that, by 8 bits of
// their mantissa: short ones, so that the product is 1 + a number of 53 bits; and the log of the
// number that is the inverse of, as a multiple of 2^-42 and what that lacks.
inline constexpr std::string_view kLogTable = "heddle_logs";
inline constexpr int kLogPieces = 256, kLogPiecesBelow = 150;  // below 1

// Of each lane of f64 the row that its index says, column by column. The first row's is `first`.
std::array<std::string, 4> table_row(const Floats& f, std::string_view table,
                                     const std::string& index, int first = 0);

}  // namespace heddle
