#include "device/cuda/region_text.h"

#include <fmt/ranges.h>

#include "kernel/emit_cuda.h"

namespace heddle::cuda {

// As ordered_bits has it.
std::string_view ordered_text() {
  return R"cuda(
template <class T> __device__ ui64 ordered(T x) {
  if constexpr (is_truth<T>) {
    return x ? 1 : 0;
  } else {
    const ui64 sign = 1ull << (8 * sizeof(T) - 1);
    ui64 bits = 0;
    memcpy(&bits, &x, sizeof(T));
    if constexpr (is_real<T>) return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
    else if constexpr (is_signed_int<T>) return bits ^ sign;
    else return bits;
  }
}
)cuda";
}

std::string operand_text(const ScalarRegion& region, std::size_t at, DType type) {
  if (!region.is_constant(at)) return fmt::format("r{}", at);
  return fmt::format("h_constant<{}>({:#x}ull)", cuda_type(type), region.fresh_registers()[at]);
}

std::string step_text(const ScalarRegion& region, const ScalarRegion::Step& step) {
  std::vector<std::string> operands;
  for (int i = 0; i < operand_count(step.op); ++i) {
    const bool is_choice = step.op == ScalarOp::select && i == 0;
    operands.push_back(operand_text(region, step.in[i], is_choice ? DType::i1 : step.from));
    if (step.is_total()) operands.back() = fmt::format("ordered({})", operands.back());
  }
  const bool casts = step.op == ScalarOp::convert || step.op == ScalarOp::bitcast;
  return fmt::format("  const {0} r{1} = h_{2}{3}({4});\n", cuda_type(step.to), step.out,
                     name(step.op), casts ? fmt::format("<{}>", cuda_type(step.to)) : "",
                     fmt::join(operands, ", "));
}

}  // namespace heddle::cuda
