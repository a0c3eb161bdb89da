// Tables that machine code looks numbers up in.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel/emit_llvm_tables.h"

namespace heddle::tables_tests {
namespace {

using Real = long double;

std::span<const TableRow> rows_of(std::string_view name) {
  for (const CodeTable& table : code_tables())
    if (table.name == name) return table.rows;
  return {};
}

TEST(KernelTables, RowsAreAligned) {
  for (const CodeTable& table : code_tables())
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.rows.data()) % 32, 0U) << table.name;
}

TEST(KernelTables, QuartersArePartsThatDoNotOverlap) {
  const auto rows = rows_of(kQuartersTable);
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(1024 - kFirstQuarters + 1));
  const double units[] = {4, 0x1p-50, 0x1p-103, 0x1p-156};
  double above = 0x1p54;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t e = 0; e + 1 < rows.size(); ++e) {
      EXPECT_LE(std::abs(rows[e][i]), above / 2) << "part " << i << " of row " << e;
      EXPECT_EQ(std::fmod(rows[e][i], units[i]), 0) << "part " << i << " of row " << e;
    }
    above = units[i];
  }
  for (double part : rows.back()) EXPECT_TRUE(std::isnan(part));
}

TEST(KernelTables, QuartersOfTwiceTheAngleAreTwiceAsMany) {
  const auto rows = rows_of(kQuartersTable);
  const Real turns_of_1 = 0.159154943091895335768883763372514362L;
  const TableRow& one = rows[static_cast<std::size_t>(-kFirstQuarters)];
  EXPECT_EQ(Real{one[0]} + one[1] + one[2], 4 * turns_of_1);
  for (std::size_t e = 0; e + 2 < rows.size(); ++e) {
    // From the last part on, so that what is left over is a multiple of 2^54.
    Real rest = 0;
    for (std::size_t i = 4; i-- > 0;) rest += 2 * Real{rows[e][i]} - rows[e + 1][i];
    EXPECT_EQ(std::fmod(std::round(rest), 0x1p54L), 0) << "row " << e;
    EXPECT_LT(std::abs(rest - std::round(rest)), 0x1p-155L) << "row " << e;
  }
}

TEST(KernelTables, BitsOfTurnsAreThoseOfTheTable) {
  const auto rows = rows_of(kQuartersTable);
  EXPECT_EQ(bits_of_turns(-63), 0U);
  for (int exponent : {30, 500, 1023}) {
    // Of weights from 2^51 on; the table's first part ends at 1, and is rounded there.
    const std::uint64_t first = (bits_of_turns(exponent - 51) >> 11) + 1;
    const double part = rows[static_cast<std::size_t>(exponent - kFirstQuarters)][0] / 4;
    EXPECT_EQ(std::fmod(static_cast<Real>(first / 2) - part, 0x1p52L), 0) << exponent;
  }
}

TEST(KernelTables, LogsAreThoseOfTheInverses) {
  const auto rows = rows_of(kLogTable);
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kLogPieces));
  for (int i = 0; i < kLogPieces; ++i) {
    const TableRow& row = rows[static_cast<std::size_t>(i)];
    const int at = i - kLogPiecesBelow;
    const double unit = at < 0 ? 0x1p-9 : 0x1p-8, first = 1 + at * unit;
    for (double m : {first, std::nextafter(first + unit, 0.0)}) {
      EXPECT_LT(std::abs(std::fma(m, row[0], -1.0)), 0x1p-8) << "piece " << i;
      EXPECT_EQ(Real{m} * row[0] - 1, Real{std::fma(m, row[0], -1.0)}) << "piece " << i;
    }
    EXPECT_EQ(std::fmod(row[1], 0x1p-42), 0) << "piece " << i;
    EXPECT_LE(std::abs(Real{row[1]} + row[2] + std::log(Real{row[0]})), 0x1p-64L) << "piece " << i;
  }
  // Next to 1 the log is as small as it should be.
  for (int i : {kLogPiecesBelow - 1, kLogPiecesBelow})
    EXPECT_EQ(rows[static_cast<std::size_t>(i)], (TableRow{1, 0, 0, 0}));
}

}  // namespace
}  // namespace heddle::tables_tests
