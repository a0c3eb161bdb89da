// Turns of huge angles from the bits of 1 / 2 pi, which are a table in registers. |x| is m * 2^e
// with m from 2^52 to 2^53: bits that give whole turns of any m do not count, and the 128 after
// them give the turns of x down to 2^-75.
#include "kernel/emit_llvm_angles.h"
#include "kernel/emit_llvm_avx512.h"
#include "kernel/emit_llvm_tables.h"

namespace heddle {

namespace {

// Words of 1 / 2 pi lie such that what counts for an x begins at the bit that its exponent's field,
// less 1024, says: the first bits of the field are the word, and the last ones the shift. This is
// that word, or the `at`th after it.
std::string word_of_turns(const Floats& f, const std::string& x, int at) {
  std::array<std::uint64_t, 16> words;
  for (int i = 0; i < 16; ++i)
    words[static_cast<std::size_t>(i)] = bits_of_turns(64 * (i + at) - 50);
  return avx512_word(f, words, f.bits("lshr", x, f.integer(58)));
}

struct WordTurns {
  std::string large, small;  // turns in units of 2^-52 and 2^-104
  std::string quarters;
};

WordTurns turns_of(const Floats& f, const std::string& x) {
  const std::string words[] = {word_of_turns(f, x, 0), word_of_turns(f, x, 1),
                               word_of_turns(f, x, 2)};
  const std::string shift = f.bits("lshr", x, f.integer(52));
  const std::string high = shifted_words(f, words[0], words[1], shift);
  const std::string low = shifted_words(f, words[1], words[2], shift);
  constexpr std::int64_t unit = std::int64_t{1} << 52;
  // Of weights down to 1, 2^-52 and 2^-76. Products take no bits from 2^52 on.
  const std::string first = f.bits("lshr", high, f.integer(12));
  const std::string second = shifted_words(f, high, low, f.integer(40));
  const std::string third = f.bits("and", f.bits("shl", low, f.integer(28)), f.integer(unit - 1));
  // The first bit of m is not among those of x: 2^52 times a part is that part one place higher.
  // Half a quarter more makes the nearest one of the one below.
  std::string turns = f.bits("add", second, f.integer(unit / 8));
  turns = add_high_product(f, add_low_product(f, turns, x, first), x, second);
  const std::string rest = add_high_product(f, add_low_product(f, third, x, second), x, third);
  const std::string in_quarter = f.bits("and", turns, f.integer(unit / 4 - 1));
  const std::string held = f.bits("or", in_quarter, f.integer(f.bits_of_number(0x1p52)));
  return {f.op("fsub", f.as_float(held), f.number(0x1p52 + 0x1p49)),
          f.w.set("sitofp {} {} to {}", f.integers, rest, f.type),
          f.bits("lshr", turns, f.integer(50))};
}

}  // namespace

ReducedAngle reduce_by_words(const Floats& f, const std::string& x) {
  const WordTurns turns = turns_of(f, f.as_bits(x));
  const std::string unit = f.number(0x1p-52);
  const std::string high = f.fma(turns.small, unit, turns.large);
  const std::string low = f.fma(turns.small, unit, f.op("fsub", turns.large, high));
  // Times 2 pi.
  const std::string turn = f.number(0x1.921fb54442d18p-50);
  const std::string rest = f.op("fmul", high, turn);
  std::string rest_low = f.fma(high, turn, f.w.set("fneg {} {}", f.type, rest));
  rest_low = f.fma(high, f.number(0x1.1a62633145c07p-104), rest_low);
  const std::string high_slot = f.w.stack(f.type, 64), low_slot = f.w.stack(f.type, 64);
  const std::string quarters_slot = f.w.stack(f.integers, 64);
  const auto keep = [&](const ReducedAngle& angle) {
    f.w.put("store {} {}, ptr {}", f.type, angle.rest.high, high_slot);
    f.w.put("store {} {}, ptr {}", f.type, angle.rest.low, low_slot);
    f.w.put("store {} {}, ptr {}", f.integers, angle.quarters, quarters_slot);
  };
  keep({{rest, f.fma(low, turn, rest_low)}, turns.quarters});
  // One vector of a thousand is so near to a quarter of a turn that it takes more bits.
  const std::string near = f.below(f.magnitude(turns.large), 0x1p36);
  const std::string other =
      f.w.set("xor {} {}, {}", f.truth, is_huge_angle(f, x), f.w.splat("true", "i1", f.lanes));
  f.w.when(any_of(f, f.w.set("or {} {}, {}", f.truth, near, other)),
           [&] { keep(reduce_any_angle(f, f.abs(x))); });
  return {
      {f.w.set("load {}, ptr {}", f.type, high_slot), f.w.set("load {}, ptr {}", f.type, low_slot)},
      f.w.set("load {}, ptr {}", f.integers, quarters_slot)};
}

}  // namespace heddle
