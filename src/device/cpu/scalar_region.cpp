#include "device/cpu/scalar_region.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle::cpu {

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

}  // namespace

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

std::optional<ScalarRegion> ScalarRegion::of(const Program& program, const Op& owner) {
  if (!captured_values(program, owner).empty()) return {};
  const Region& region = program.region(program.regions(owner)[0]);
  ScalarRegion made;
  std::unordered_map<ValueId, std::size_t> at;
  for (ValueId arg : region.args) {
    if (!is_kernel_scalar(program.type_of(arg))) return {};
    at[arg] = made.add_register(0, false);
  }
  for (OpId id : region.ops) {
    const Op& op = program.op(id);
    const auto operands = program.operands(op);
    if (op.def->form == Form::terminator) {
      for (ValueId v : operands) made.results_.push_back(at.at(v));
      break;
    }
    if (op.result_count != 1 || op.region_count != 0) return {};
    const ValueId result = program.result(op, 0);
    if (!is_kernel_scalar(program.type_of(result))) return {};
    if (op.def->form == Form::constant) {
      const Attr* value = program.attr(op, "value");
      if (value == nullptr || value->get<Array>() == nullptr) return {};
      at[result] = made.add_register(bits_of(*value->get<Array>()), true);
      continue;
    }
    if (operands.empty() || operands.size() > 3) return {};
    Step step;
    for (std::size_t i = 0; i < operands.size(); ++i) step.in[i] = at.at(operands[i]);
    const bool is_compare = op.def->form == Form::compare;
    step.op = is_compare ? comparison(word_or(program.attr(op, "comparison_direction"), ""))
                         : op.def->scalar;
    step.from = program.type_of(operands[op.def->form == Form::select ? 1 : 0]).dtype;
    step.to = program.type_of(result).dtype;
    const bool total = is_compare && is_float(step.from) &&
                       word_or(program.attr(op, "compare_type"), "") == "TOTALORDER";
    if (!total) step.function = scalar_function(step.op, step.from, step.to);
    if (step.op == ScalarOp::none || (!total && step.function == nullptr)) return {};
    step.out = at[result] = made.add_register(0, false);
    made.steps_.push_back(step);
  }
  return made;
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

}  // namespace heddle::cpu
