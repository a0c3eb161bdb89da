#include "kernel/emit_llvm_tables.h"

#include <cmath>
#include <limits>
#include <vector>

namespace heddle {

namespace {

// 1 / 2 pi, from 2^-1 on.
constexpr std::uint64_t kOneInTurns[] = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158,
    0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121,
    0x3a671c09ad17df90, 0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603,
    0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b, 0x5d49eeb1faf97c5e,
    0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea, 0xfc33ef0826bd0d87};

// Its bit of weight 2^-place.
std::int64_t turn_bit(int place) {
  if (place < 1) return 0;
  const auto at = static_cast<unsigned>(place - 1);
  return static_cast<std::int64_t>(kOneInTurns[at / 64] >> (63 - at % 64) & 1);
}

// `count` of its bits as a whole number. What stands before them was rounded, which took one more
// where the first of them is set; and so are they.
double rounded_turn_bits(int first, int count) {
  std::int64_t sum = -turn_bit(first);
  for (int i = 0; i < count; ++i) sum = 2 * sum + turn_bit(first + i);
  return static_cast<double>(sum + turn_bit(first + count));
}

struct alignas(32) AlignedRow {
  TableRow row;
};
static_assert(sizeof(AlignedRow) == sizeof(TableRow));

std::span<const TableRow> rows_of(const std::vector<AlignedRow>& rows) {
  return {&rows[0].row, rows.size()};
}

std::vector<AlignedRow> quarters() {
  std::vector<AlignedRow> rows;
  for (int exponent = kFirstQuarters; exponent <= 1023; ++exponent) {
    AlignedRow& next = rows.emplace_back();
    int first = exponent - 51;  // of weight 2^51 here
    for (std::size_t i = 0; i < 4; ++i) {
      const int count = i < 2 ? 52 : 53, end = first + count;
      next.row[i] = std::ldexp(rounded_turn_bits(first, count), exponent + 3 - end);
      first = end;
    }
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  rows.push_back({{nan, nan, nan, nan}});
  return rows;
}

// log (k / 512), times 2^100.
__int128 fixed_log(int k) {
  const int over = k - 512, under = k + 512;  // 2 atanh of their quotient
  __int128 power = (__int128{2} << 100) * over / under, sum = 0;
  for (int i = 1; power != 0; i += 2) {
    sum += power / i;
    power = power * over / under * over / under;
  }
  return sum;
}

std::vector<AlignedRow> logs() {
  std::vector<AlignedRow> rows;
  for (int i = 0; i < kLogPieces; ++i) {
    // Of 512 parts of 1; pieces are twice as long from 1 on.
    const int at = i - kLogPiecesBelow, longer = at < 0 ? 1 : 2;
    const double middle = 512 + longer * (at + 0.5);
    const double nearest = 512 * 512 / middle;
    // A multiple of 2^-8 above 1 and of 2^-9 below.
    int inverse = at < 0 ? 2 * static_cast<int>(std::lround(nearest / 2))
                         : static_cast<int>(std::lround(nearest));
    if (at == -1 || at == 0) inverse = 512;
    const __int128 log = -fixed_log(inverse), unit = __int128{1} << 58;
    const __int128 high = (log + (log < 0 ? -unit : unit) / 2) / unit;
    const auto low = static_cast<double>(log - high * unit);
    rows.push_back(
        {{inverse / 512.0, std::ldexp(static_cast<double>(high), -42), std::ldexp(low, -100), 0}});
  }
  return rows;
}

}  // namespace

std::uint64_t bits_of_turns(int first) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 64; ++i) bits = 2 * bits + static_cast<std::uint64_t>(turn_bit(first + i));
  return bits;
}

std::span<const CodeTable> code_tables() {
  static const std::vector<AlignedRow> kQuarters = quarters(), kLogs = logs();
  static const CodeTable kTables[] = {{kQuartersTable, rows_of(kQuarters)},
                                      {kLogTable, rows_of(kLogs)}};
  return kTables;
}

}  // namespace heddle
