#include "stitch/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <vector>

#include "heddle/op.h"
#include "heddle/strided_view.h"
#include "ir/attr_access.h"
#include "ir/eval/scalar.h"
#include "ir/lower/simplify.h"

namespace heddle {

namespace {

constexpr int kMostRepeats = 4;  // from a row to what is repeated of it
constexpr std::size_t kMostFactors = 6;

const Op* maker_of(const Program& program, ValueId value) {
  const OpId maker = program.value(value).op;
  return maker == kNone ? nullptr : &program.op(maker);
}

bool repeats(const Op& op) {
  return op.def->rearranges == Rearrange::broadcast || op.def->rearranges == Rearrange::reshape;
}

// The number that all elements are.
std::optional<double> number_everywhere(const Program& program, ValueId value) {
  for (const Op* op = maker_of(program, value); op != nullptr && repeats(*op);
       op = maker_of(program, value))
    value = program.operands(*op)[0];
  const Array* constant = constant_of(program, value);
  if (constant == nullptr || (!constant->is_splat() && constant->type().elements() != 1)) return {};
  return dispatch(constant->dtype(), [&](auto tag) -> std::optional<double> {
    using T = typename decltype(tag)::type;
    if constexpr (FloatScalar<T>)
      return convert_scalar<double>(*reinterpret_cast<const T*>(constant->element(0).data()));
    else
      return {};
  });
}

// A product as a number times values.
struct Factors {
  double number = 1;
  std::vector<ValueId> values;
};

void add_factors(const Program& program, ValueId value, Factors& all) {
  if (const auto number = number_everywhere(program, value)) {
    all.number *= *number;
    return;
  }
  const Op* op = maker_of(program, value);
  if (op == nullptr || op->def->scalar != ScalarOp::multiply || all.values.size() > kMostFactors) {
    all.values.push_back(value);
    return;
  }
  for (ValueId v : program.operands(*op)) add_factors(program, v, all);
}

Factors factors_of(const Program& program, ValueId value) {
  Factors all;
  add_factors(program, value, all);
  return all;
}

// As near as numbers of the type come to it, and a little more where it was computed.
bool is_about(double number, double wanted, DType type) {
  const double step = type == DType::bf16 ? 0x1p-8 : type == DType::f16 ? 0x1p-11 : 0x1p-22;
  return std::abs(number - wanted) <= 1.5 * step * wanted;
}

// The two operands of an addition, in either order, that `fits` takes.
template <typename Fits>
bool is_sum(const Program& program, ValueId value, const Fits& fits) {
  const Op* op = maker_of(program, value);
  if (op == nullptr || op->def->scalar != ScalarOp::add) return false;
  const auto operands = program.operands(*op);
  return fits(operands[0], operands[1]) || fits(operands[1], operands[0]);
}

// sqrt(2/pi) * (x + 0.044715 x^3)
bool is_gelu_inside(const Program& program, ValueId value, ValueId x) {
  const DType type = program.type_of(x).dtype;
  const Factors outer = factors_of(program, value);
  if (outer.values.size() != 1 || !is_about(outer.number, std::sqrt(2 / std::numbers::pi), type))
    return false;
  return is_sum(program, outer.values[0], [&](ValueId a, ValueId b) {
    if (a != x) return false;
    const Factors cube = factors_of(program, b);
    return cube.values == std::vector(3, x) && is_about(cube.number, 0.044715, type);
  });
}

// 1 + tanh(...)
bool is_gelu_factor(const Program& program, ValueId value, ValueId x) {
  return is_sum(program, value, [&](ValueId a, ValueId b) {
    const Op* op = maker_of(program, b);
    return number_everywhere(program, a) == 1.0 && op != nullptr &&
           op->def->scalar == ScalarOp::tanh &&
           is_gelu_inside(program, program.operands(*op)[0], x);
  });
}

bool is_zero(const Program& program, ValueId value) {
  return number_everywhere(program, value) == 0.0;
}

}  // namespace

std::optional<ValueId> gelu_operand(const Program& program, const Op& op) {
  if (op.def->scalar != ScalarOp::multiply || op.result_count != 1) return {};
  const Factors all = factors_of(program, op.results);
  if (all.values.size() != 2 || all.number != 0.5) return {};
  for (std::size_t i = 0; i < 2; ++i)
    if (is_gelu_factor(program, all.values[1 - i], all.values[i])) return all.values[i];
  return {};
}

namespace {

// What a value is where dy and x are numbers; nothing where it is made of anything else.
class AtPoint {
 public:
  AtPoint(const Program& program, ValueId dy, ValueId x, double dy_is, double x_is)
      : program_(program), known_{{dy, dy_is}, {x, x_is}} {}

  std::optional<double> of(ValueId value) {
    if (const auto found = known_.find(value); found != known_.end()) return found->second;
    if (const auto number = number_everywhere(program_, value)) return known_[value] = *number;
    const Op* op = maker_of(program_, value);
    if (op == nullptr || ++steps_ > kMostSteps || op->def->scalar == ScalarOp::none) return {};
    const auto operands = program_.operands(*op);
    const auto first = of(operands[0]);
    if (!first) return {};
    const auto second = operands.size() > 1 ? of(operands[1]) : std::optional(0.0);
    if (!second || operands.size() > 2) return {};
    const auto made = applied(op->def->scalar, *first, *second);
    if (made) known_[value] = *made;
    return made;
  }

 private:
  static constexpr int kMostSteps = 64;
  static std::optional<double> applied(ScalarOp op, double a, double b) {
    switch (op) {
      case ScalarOp::add:
        return a + b;
      case ScalarOp::subtract:
        return a - b;
      case ScalarOp::multiply:
        return a * b;
      case ScalarOp::divide:
        return a / b;
      case ScalarOp::negate:
        return -a;
      case ScalarOp::tanh:
        return std::tanh(a);
      default:
        return {};
    }
  }

  const Program& program_;
  std::unordered_map<ValueId, double> known_;
  int steps_ = 0;
};

double gelu_slope(double x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  const double t = std::tanh(scale * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x);
}

}  // namespace

bool is_gelu_gradient(const Program& program, ValueId value, ValueId dy, ValueId x) {
  constexpr double kFarthest = 4, kApart = 0.28125;
  const DType type = program.type_of(x).dtype;
  // Its constants are those of the type, each off by half a step.
  const double step = type == DType::bf16 ? 0x1p-8 : type == DType::f16 ? 0x1p-11 : 0x1p-20;
  for (double at = -kFarthest; at <= kFarthest; at += kApart)
    for (const double gradient : {1.0, -2.5}) {
      const auto got = AtPoint(program, dy, x, gradient, at).of(value);
      if (!got || !(std::abs(*got - gradient * gelu_slope(at)) <= 4 * step * std::abs(gradient)))
        return false;
    }
  return true;
}

bool is_relu_of(const Program& program, const Op& op, ValueId x) {
  if (op.def->scalar != ScalarOp::maximum || !is_float(program.type_of(x).dtype)) return false;
  const auto operands = program.operands(op);
  return (operands[0] == x && is_zero(program, operands[1])) ||
         (operands[1] == x && is_zero(program, operands[0]));
}

bool is_sign_of(const Program& program, const Op& op, ValueId x) {
  if (op.def->emission != Emission::compare || !is_float(program.type_of(x).dtype)) return false;
  if (word_or(program.attr(op, "compare_type"), "FLOAT") != "FLOAT") return false;
  const auto operands = program.operands(op);
  const std::string_view how = word_or(program.attr(op, "comparison_direction"), "");
  if (operands[0] == x && is_zero(program, operands[1])) return how == "GT" || how == "LE";
  return operands[1] == x && is_zero(program, operands[0]) && (how == "LT" || how == "GE");
}

ValueId repeated_row(const Program& program, ValueId value) {
  const Type& type = program.type_of(value);
  if (type.rank() == 0) return kNone;
  std::vector<const Op*> moves;  // the last one first
  ValueId from = value;
  for (const Op* op = maker_of(program, from);
       op != nullptr && repeats(*op) && moves.size() < kMostRepeats; op = maker_of(program, from)) {
    moves.push_back(op);
    from = program.operands(*op)[0];
  }
  const std::int64_t size = type.shape.back();
  if (moves.empty() || size < 2 || program.type_of(from).elements() != size) return kNone;
  auto view = std::optional(dense_view(program, from));
  for (std::size_t i = moves.size(); view && i-- > 0;)
    view = view_through(program, *moves[i], *view);
  if (!view) return kNone;
  for (std::size_t d = 0; d + 1 < view->dims.size(); ++d)
    for (const Stride& digit : view->dims[d])
      if (digit.size != 1 && digit.step != 0) return kNone;
  const auto row = join_strides(view->dims.back());
  return row == std::vector<Stride>{{size, 1}} ? from : kNone;
}

}  // namespace heddle
