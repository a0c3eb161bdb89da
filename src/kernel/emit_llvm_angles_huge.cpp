// Quarters of a turn of angles of any size. With x = m * 2^e, m from 1 to 2, a table has those of
// 2^e as a sum of four parts, of which the first is a whole number of turns: m times that is a
// multiple of 2^-50, so that what is left beside whole turns is one f64. The next parts go the same
// way, each split at the place where the last one ended: no step loses anything before 2^-156.
#include "kernel/emit_llvm_angles.h"
#include "kernel/emit_llvm_tables.h"

namespace heddle {

namespace {

struct Quarters {
  const Floats& f;

  // a * b, cut at the last bit of `base`, and the rest of it.
  Sum cut(const std::string& a, const std::string& b, double base) const {
    const std::string high = f.op("fsub", f.fma(a, b, f.number(base)), f.number(base));
    return {high, f.fma(a, b, f.w.set("fneg {} {}", f.type, high))};
  }
};

}  // namespace

ReducedAngle reduce_any_angle(const Floats& f, const std::string& x) {
  constexpr int first_field = 1023 + kFirstQuarters;
  const std::string field = f.bits("lshr", f.magnitude(x), f.integer(52));
  const auto parts =
      table_row(f, kQuartersTable, f.larger(field, f.integer(first_field)), first_field);
  const std::int64_t exponent = std::int64_t{0x7ff} << 52;
  const std::string m = f.as_float(f.bits("or", f.bits("and", f.as_bits(x), f.integer(~exponent)),
                                          f.integer(f.bits_of_number(1))));
  const Quarters q{f};
  // Eight quarters are as good as none.
  const Sum first = q.cut(m, parts[0], 0x1.8p55), second = q.cut(m, parts[1], 0x1.8p3);
  const std::string sum = f.op("fadd", first.low, second.high);
  const std::string quarters = f.op("fadd", sum, f.number(0x1.8p52));
  const std::string large = f.op("fsub", sum, f.op("fsub", quarters, f.number(0x1.8p52)));
  // The bits from 2^-103 on count only next to whole quarters, where hardly any angle is.
  const std::string high_slot = f.w.stack(f.type, 64), low_slot = f.w.stack(f.type, 64);
  const auto keep = [&](const std::string& small, const std::string& last) {
    const std::string high = f.op("fadd", large, small);
    const std::string lost = f.op("fsub", small, f.op("fsub", high, large));
    f.w.put("store {} {}, ptr {}", f.type, high, high_slot);
    const std::string low = last.empty() ? lost : f.op("fadd", lost, last);
    f.w.put("store {} {}, ptr {}", f.type, low, low_slot);
  };
  keep(f.fma(m, parts[2], second.low), {});
  f.w.when(any_of(f, f.below(f.magnitude(large), 0x1p-28)), [&] {
    const Sum third = q.cut(m, parts[2], 0x1.8p-49);
    keep(f.op("fadd", second.low, third.high), f.fma(m, parts[3], third.low));
  });
  const std::string high = f.w.set("load {}, ptr {}", f.type, high_slot);
  const std::string low = f.w.set("load {}, ptr {}", f.type, low_slot);
  // Times pi / 2.
  const std::string quarter = f.number(0x1.921fb54442d18p+0);
  const std::string rest = f.op("fmul", high, quarter);
  std::string rest_low = f.fma(high, quarter, f.w.set("fneg {} {}", f.type, rest));
  rest_low = f.fma(high, f.number(0x1.1a62633145c07p-54), rest_low);
  return {{rest, f.fma(low, quarter, rest_low)}, f.as_bits(quarters)};
}

}  // namespace heddle
