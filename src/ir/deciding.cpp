#include "ir/deciding.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/rules/rule_builder.h"

namespace heddle {

namespace {

class Deciding {
 public:
  explicit Deciding(const Program& program)
      : program_(program), values_(program.value_count()), ops_(program.op_count()) {
    for (const Function& f : program.functions)
      if (f.body != kNone) look_at(f.body, false);
  }

  std::vector<bool> take() { return std::move(ops_); }

 private:
  // What the end of an inner region gives may be asked by whoever runs it.
  void look_at(RegionId region, bool is_inner) {
    const auto& ops = program_.region(region).ops;
    for (std::size_t n = ops.size(); n-- > 0;) {
      const Op& op = program_.op(ops[n]);
      const bool is_control = op.def->control != Control::none;
      if (is_control)
        for (RegionId inner : program_.regions(op)) look_at(inner, true);
      bool decides = is_control || (is_inner && op.def->form == Form::terminator) || asks(op);
      for (std::size_t i = 0; i < op.result_count; ++i)
        if (values_[program_.result(op, i)]) ops_[ops[n]] = decides = true;
      if (!decides) continue;
      for (ValueId v : program_.operands(op)) values_[v] = true;
    }
  }

  bool is_constant(ValueId v) const {
    const OpId maker = program_.value(v).op;
    if (maker == kNone) return false;
    const Op& op = program_.op(maker);
    if (op.def->parts == Parts::constant) return true;
    return op.def->rearranges == Rearrange::broadcast && is_constant(program_.operands(op)[0]);
  }

  bool asks_comparing(const Op& op) const {
    const auto operands = program_.operands(op);
    if (operands[0] == operands[1]) return false;  // whether it is a number
    const std::string_view direction = word_or(program_.attr(op, "comparison_direction"), "");
    const bool is_order = direction != "EQ" && direction != "NE";
    return !is_order || !(is_constant(operands[0]) || is_constant(operands[1]));
  }

  // Whether the op itself looks at digits.
  bool asks(const Op& op) const {
    if (op.def->form == Form::terminator) return false;
    if (op.def->form == Form::compare) return asks_comparing(op);
    if (op.def->emission == Emission::bitcast || op.def->call == DeviceCall::top_k) return true;
    switch (op.def->scalar) {
      case ScalarOp::sign:
      case ScalarOp::floor:
      case ScalarOp::ceil:
      case ScalarOp::round_even:
      case ScalarOp::round_away:
      case ScalarOp::remainder:
        return true;
      case ScalarOp::convert:
        return !is_float(program_.type_of(program_.result(op, 0)).dtype);
      default:
        break;
    }
    // A gradient of max pooling takes one of the greatest, as near to each other as they may be.
    if (op.region_count > 0 && op.def->parts != Parts::scatter_windows)
      return std::ranges::any_of(program_.regions(op), [&](RegionId region) {
        return !known_reduction(program_, region).has_value();
      });
    switch (op.def->cls) {
      case OpClass::light:
      case OpClass::heavy:
      case OpClass::reduce:
      case OpClass::contract:
      case OpClass::move:
      case OpClass::communicate:
        return false;
      default:
        return op.def->parts != Parts::constant;
    }
  }

  const Program& program_;
  std::vector<bool> values_, ops_;
};

}  // namespace

std::vector<bool> deciding_ops(const Program& program) { return Deciding(program).take(); }

}  // namespace heddle
