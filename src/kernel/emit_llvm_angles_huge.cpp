// Turns of angles of any size. With x = m * 2^e, m from 1 to 2, a table has the turns of 2^e as a
// sum of four parts, of which the first is a whole number: m times that is a multiple of 2^-52, so
// that what is left beside whole turns is one f64. The next parts go the same way, each split at
// the place where the last one ended: no step loses anything before 2^-158.
#include "kernel/emit_llvm_angles.h"
#include "kernel/emit_llvm_tables.h"

namespace heddle {

namespace {

struct Turns {
  const Floats& f;

  // a * b, cut at the last bit of `base`, and the rest of it.
  Sum cut(const std::string& a, const std::string& b, double base) const {
    const std::string high = f.op("fsub", f.fma(a, b, f.number(base)), f.number(base));
    return {high, f.fma(a, b, f.w.set("fneg {} {}", f.type, high))};
  }
};

}  // namespace

ReducedAngle reduce_any_angle(const Floats& f, const std::string& x) {
  const std::string field = f.bits("lshr", f.magnitude(x), f.integer(52));
  const std::string place = f.bits("sub", field, f.integer(1023 + kFirstTurns));
  const auto turns = table_row(f, kTurnsTable, f.larger(place, f.integer(0)));
  const std::int64_t exponent = std::int64_t{0x7ff} << 52;
  const std::string m = f.as_float(f.bits("or", f.bits("and", f.as_bits(x), f.integer(~exponent)),
                                          f.integer(f.bits_of_number(1))));
  const Turns t{f};
  // Two whole turns are as good as one.
  const Sum first = t.cut(m, turns[0], 0x1.8p53), second = t.cut(m, turns[1], 0x1.8p1);
  const std::string sum = f.op("fadd", first.low, second.high);
  const std::string quarters = f.fma(sum, f.number(4), f.number(0x1.8p52));
  const std::string taken = f.op("fsub", quarters, f.number(0x1.8p52));
  const std::string large = f.fma(taken, f.number(-0.25), sum);
  // The bits from 2^-105 on count only next to a quarter of a turn, where hardly any angle is.
  const std::string small_slot = f.w.stack(f.type, 64), last_slot = f.w.stack(f.type, 64);
  const auto keep = [&](const std::string& slot, const std::string& value) {
    f.w.put("store {} {}, ptr {}", f.type, value, slot);
  };
  keep(small_slot, f.fma(m, turns[2], second.low));
  keep(last_slot, f.number(0));
  f.w.when(any_of(f, f.below(f.magnitude(large), 0x1p-30)), [&] {
    const Sum third = t.cut(m, turns[2], 0x1.8p-51);
    keep(small_slot, f.op("fadd", second.low, third.high));
    keep(last_slot, f.fma(m, turns[3], third.low));
  });
  const std::string small = f.w.set("load {}, ptr {}", f.type, small_slot);
  const std::string last = f.w.set("load {}, ptr {}", f.type, last_slot);
  const std::string high = f.op("fadd", large, small);
  const std::string lost = f.op("fsub", small, f.op("fsub", high, large));
  const std::string low = f.op("fadd", lost, last);
  // Times 2 pi.
  const std::string turn = f.number(0x1.921fb54442d18p+2);
  const std::string rest = f.op("fmul", high, turn);
  std::string rest_low = f.fma(high, turn, f.w.set("fneg {} {}", f.type, rest));
  rest_low = f.fma(high, f.number(0x1.1a62633145c07p-52), rest_low);
  return {{rest, f.fma(low, turn, rest_low)}, f.as_bits(quarters)};
}

}  // namespace heddle
