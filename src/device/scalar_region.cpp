#include "device/scalar_region.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/lower/simplify.h"

namespace heddle {

namespace {

std::uint64_t bits_of(const Array& scalar) {
  std::uint64_t bits = 0;
  const auto bytes = scalar.element(0);
  std::memcpy(&bits, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
  return bits;
}

ScalarOp comparison(std::string_view direction) {
  if (direction == "EQ") return ScalarOp::equal;
  if (direction == "NE") return ScalarOp::not_equal;
  if (direction == "LT") return ScalarOp::less;
  if (direction == "LE") return ScalarOp::less_equal;
  if (direction == "GT") return ScalarOp::greater;
  return ScalarOp::greater_equal;
}

bool compares(ScalarOp op, std::uint64_t a, std::uint64_t b) {
  switch (op) {
    case ScalarOp::equal:
      return a == b;
    case ScalarOp::not_equal:
      return a != b;
    case ScalarOp::less:
      return a < b;
    case ScalarOp::less_equal:
      return a <= b;
    case ScalarOp::greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool is_kernel_scalar(const Type& type) {
  return type.is_tensor() && type.rank() == 0 && is_kernel_type(type.dtype);
}

// Of one of the IEEE formats; a magnitude above it is a NaN.
std::uint64_t infinity_bits(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 0x7c00;
    case DType::bf16:
      return 0x7f80;
    case DType::f32:
      return 0x7f800000;
    default:
      return 0x7ff0000000000000;
  }
}

}  // namespace

bool is_nan(std::uint64_t bits, DType dtype) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * byte_size(dtype) - 1);
  return is_float(dtype) && (bits & (sign - 1)) > infinity_bits(dtype);
}

std::uint64_t ordered_bits(std::uint64_t bits, DType dtype) {
  const int width = 8 * byte_size(dtype);
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  bits &= mask;
  if (is_float(dtype)) return (bits & sign) != 0 ? ~bits & mask : bits | sign;
  if (dtype == DType::i1 || dtype >= DType::ui2) return bits;
  return bits ^ sign;
}

std::size_t ScalarRegion::add_register(std::uint64_t bits, bool is_constant) {
  registers_.push_back(bits);
  is_constant_.push_back(is_constant);
  return registers_.size() - 1;
}

std::optional<ScalarRegion> ScalarRegion::of(const Program& program, RegionId id) {
  const Region& region = program.region(id);
  ScalarRegion made;
  std::unordered_map<ValueId, std::size_t> at;
  for (ValueId arg : region.args) {
    if (!is_kernel_scalar(program.type_of(arg))) return {};
    at[arg] = made.add_register(0, false);
  }
  // The register of an operand; constants, of the region or from around, come in on the way.
  const auto find = [&](ValueId v) -> std::optional<std::size_t> {
    if (const auto known = at.find(v); known != at.end()) return known->second;
    const Array* constant = constant_of(program, v);
    if (constant == nullptr || !is_kernel_scalar(constant->type())) return {};
    return at[v] = made.add_register(bits_of(*constant), true);
  };
  for (OpId op_id : region.ops) {
    const Op& op = program.op(op_id);
    if (op.def->form == Form::constant) continue;
    std::vector<std::size_t> in;
    for (ValueId v : program.operands(op)) {
      const auto found = find(v);
      if (!found) return {};
      in.push_back(*found);
    }
    if (op.def->form == Form::terminator)
      made.results_ = std::move(in);
    else if (!made.add_step(program, op, in))
      return {};
    else
      at[program.result(op, 0)] = made.steps_.back().out;
  }
  return made;
}

bool ScalarRegion::add_step(const Program& program, const Op& op,
                            const std::vector<std::size_t>& in) {
  const auto operands = program.operands(op);
  if (op.result_count != 1 || op.region_count != 0 || in.empty() || in.size() > 3) return false;
  const Type& result = program.type_of(program.result(op, 0));
  if (!is_kernel_scalar(result)) return false;
  Step step;
  std::copy(in.begin(), in.end(), step.in);
  const bool is_compare = op.def->form == Form::compare;
  step.op = is_compare ? comparison(word_or(program.attr(op, "comparison_direction"), ""))
                       : op.def->scalar;
  step.from = program.type_of(operands[op.def->form == Form::select ? 1 : 0]).dtype;
  step.to = result.dtype;
  const bool total = is_compare && is_float(step.from) &&
                     word_or(program.attr(op, "compare_type"), "") == "TOTALORDER";
  if (!total) step.function = scalar_function(step.op, step.from, step.to);
  if (step.op == ScalarOp::none || (!total && step.function == nullptr)) return false;
  step.out = add_register(0, false);
  steps_.push_back(step);
  return true;
}

void ScalarRegion::run(const Step& step, Registers& r) {
  const std::uint64_t a = r[step.in[0]], b = r[step.in[1]], c = r[step.in[2]];
  r[step.out] = step.is_total()
                    ? compares(step.op, ordered_bits(a, step.from), ordered_bits(b, step.from))
                    : step.function(a, b, c);
}

const ScalarRegion::Step* ScalarRegion::maker(std::size_t at) const {
  for (const Step& step : steps_)
    if (step.out == at) return &step;
  return nullptr;
}

}  // namespace heddle
