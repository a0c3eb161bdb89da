// The larger or smaller of floats: NaN wins, and -0 is below +0. AVX-512 has an instruction that is
// right but for NaN; elsewhere LLVM finds its own way.
#include "kernel/emit_llvm_ops.h"

namespace heddle {

namespace {

using Values = std::span<const LlvmValue>;

bool has_instruction(const LlvmWriter& w, const LlvmValue& x) {
  const int bits = x.lanes * (x.type == DType::f64 ? 64 : 32);
  return w.target.family == VectorTarget::Family::x86 && w.target.vector_bytes == 64 &&
         (bits == 128 || bits == 256 || bits == 512);
}

LlvmValue by_instruction(LlvmWriter& w, ScalarOp op, const LlvmValue& a, const LlvmValue& b) {
  const bool wide = a.type == DType::f64;
  const int bits = a.lanes * (wide ? 64 : 32);
  const std::string type = LlvmWriter::type_of(a);
  const std::string_view mask = a.lanes == 16 ? "i16 -1" : "i8 -1";
  const std::string found = w.call(
      type, fmt::format("llvm.x86.avx512.mask.range.p{}.{}", wide ? "d" : "s", bits),
      fmt::format("{0} {1}, {0} {2}, i32 {3}, {0} zeroinitializer, {4}{5}", type, a.text, b.text,
                  op == ScalarOp::maximum ? 5 : 4, mask, bits == 512 ? ", i32 4" : ""));
  const std::string nan = w.set("fcmp uno {} {}, {}", type, a.text, b.text);
  const std::string sum = w.set("fadd {} {}, {}", type, a.text, b.text);
  return like(a, w.set("select <{0} x i1> {1}, {2} {3}, {2} {4}", a.lanes, nan, type, sum, found));
}

}  // namespace

LlvmValue lanes_of(LlvmWriter& w, const LlvmValue& x, int first, int lanes) {
  LlvmValue part = x;
  part.lanes = lanes;
  std::string order;
  for (int i = 0; i < lanes; ++i)
    order += fmt::format("{}i32 {}", i == 0 ? "" : ", ", (first + i) % x.lanes);
  const std::string type = LlvmWriter::type_of(x);
  part.text =
      w.set("shufflevector {0} {1}, {0} poison, <{2} x i32> <{3}>", type, x.text, lanes, order);
  return part;
}

LlvmValue emit_extremum(LlvmWriter& w, ScalarOp op, Values in) {
  const int shortest = in[0].type == DType::f64 ? 2 : 4;
  if (in[0].lanes == 0) {
    // In one lane of the shortest vector, where that has the instruction.
    LlvmValue whole = in[0];
    whole.lanes = shortest;
    if (has_instruction(w, whole)) {
      const std::string_view scalar = LlvmWriter::scalar_type(whole.type);
      const std::string type = LlvmWriter::type_of(whole);
      auto placed = [&](const LlvmValue& x) {
        return like(whole,
                    w.set("insertelement {} zeroinitializer, {} {}, i64 0", type, scalar, x.text));
      };
      const LlvmValue found = by_instruction(w, op, placed(in[0]), placed(in[1]));
      return like(in[0], w.set("extractelement {} {}, i64 0", type, found.text));
    }
  }
  if (has_instruction(w, in[0])) return by_instruction(w, op, in[0], in[1]);
  const std::string type = LlvmWriter::type_of(in[0]);
  const std::string suffix = LlvmWriter::suffix(LlvmWriter::scalar_type(in[0].type), in[0].lanes);
  return like(in[0], w.call(type, fmt::format("llvm.{}.{}", name(op), suffix),
                            fmt::format("{0} {1}, {0} {2}", type, in[0].text, in[1].text)));
}

LlvmValue emit_extremum_of_lanes(LlvmWriter& w, ScalarOp op, LlvmValue x) {
  const int shortest = x.type == DType::f64 ? 2 : 4;
  while (x.lanes > shortest)
    x = emit_extremum(
        w, op,
        std::array{lanes_of(w, x, 0, x.lanes / 2), lanes_of(w, x, x.lanes / 2, x.lanes / 2)});
  for (int distance = x.lanes / 2; distance > 0; distance /= 2)
    x = emit_extremum(w, op, std::array{x, lanes_of(w, x, distance, x.lanes)});
  LlvmValue result = x;
  result.lanes = 0;
  result.text = w.set("extractelement {} {}, i64 0", LlvmWriter::type_of(x), x.text);
  return result;
}

}  // namespace heddle
