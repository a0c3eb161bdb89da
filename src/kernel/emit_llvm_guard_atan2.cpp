// atan2 of small numbers: it depends on their quotient alone, so that both may be made larger.
#include <array>
#include <cmath>

#include "kernel/emit_llvm_avx512.h"
#include "kernel/emit_llvm_guard.h"

namespace heddle {

namespace {

struct SmallPair {
  const Floats& f;

  // So many smallest steps, of a number that is small enough for that.
  std::string steps(const std::string& x) const {
    const std::string size = f.magnitude(x), subnormal = is_subnormal(f, x);
    const std::string counted = f.with_sign(f.steps(size), x);
    // Subnormal numbers are in nobody's way here.
    std::string scaled = f.pick(subnormal, f.number(0), x);
    const int half = f.smallest() / 2;
    for (int by : {half, f.smallest() - half})
      scaled = f.op("fmul", scaled, f.number(std::ldexp(1.0, by)));
    return f.pick(subnormal, counted, scaled);
  }
};

}  // namespace

std::string guarded_atan2(LlvmWriter& w, std::span<const LlvmValue> in,
                          const PlainFunction& function) {
  const Floats f{w, in[0].lanes, in[0].type == DType::f64};
  std::array<LlvmValue, 2> held = {in[0], in[1]};
  std::array<std::string, 2> slots;
  for (std::size_t i = 0; i < 2; ++i) {
    slots[i] = w.stack(f.type, 64);
    w.put("store {} {}, ptr {}", f.type, in[i].text, slots[i]);
  }
  const std::string some =
      w.set("or {} {}, {}", f.truth, is_subnormal(f, in[0].text), is_subnormal(f, in[1].text));
  w.when(any_of(f, some), [&] {
    const double limit = f.of_width(0x1p-24, 0x1p-54);
    const std::string both = f.larger(f.magnitude(in[0].text), f.magnitude(in[1].text));
    const std::string small = w.set("and {} {}, {}", f.truth, some, f.below(both, limit));
    for (std::size_t i = 0; i < 2; ++i)
      w.put("store {} {}, ptr {}", f.type,
            f.pick(small, SmallPair{f}.steps(in[i].text), in[i].text), slots[i]);
  });
  for (std::size_t i = 0; i < 2; ++i) held[i].text = w.set("load {}, ptr {}", f.type, slots[i]);
  return function(held);
}

}  // namespace heddle
