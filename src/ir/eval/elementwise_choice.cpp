// compare, select and clamp.
#include "ir/attr_access.h"
#include "ir/eval/elementwise.h"
#include "ir/eval/total_order.h"

namespace heddle {

namespace {

enum class Direction : std::uint8_t { eq, ne, ge, gt, le, lt };

Direction direction_of(std::string_view word) {
  if (word == "EQ") return Direction::eq;
  if (word == "NE") return Direction::ne;
  if (word == "GE") return Direction::ge;
  if (word == "GT") return Direction::gt;
  if (word == "LE") return Direction::le;
  return Direction::lt;
}

// C++ comparisons do what IEEE-754 asks, NaN included.
template <typename T>
bool compare_values(Direction direction, T x, T y) {
  switch (direction) {
    case Direction::eq:
      return x == y;
    case Direction::ne:
      return x != y;
    case Direction::ge:
      return x >= y;
    case Direction::gt:
      return x > y;
    case Direction::le:
      return x <= y;
    case Direction::lt:
      break;
  }
  return x < y;
}

struct Compare {
  Direction direction;
  bool total_order = false;

  Bool operator()(Bool x, Bool y) const {
    return Bool(compare_values(direction, bool(x), bool(y)));
  }
  template <IntScalar T>
  Bool operator()(T x, T y) const {
    return Bool(compare_values(direction, x, y));
  }
  template <FloatScalar T>
  Bool operator()(T x, T y) const {
    if (total_order) return Bool(compare_values(direction, total_order_key(x), total_order_key(y)));
    return Bool(compare_values(direction, static_cast<double>(x), static_cast<double>(y)));
  }
  // In the order of (real, imaginary) pairs.
  template <ComplexScalar T>
  Bool operator()(T x, T y) const {
    if (direction == Direction::eq) return Bool(x == y);
    if (direction == Direction::ne) return Bool(x != y);
    if (x.real() == y.real()) return Bool(compare_values(direction, x.imag(), y.imag()));
    return Bool(compare_values(direction, x.real(), y.real()));
  }
};

Evaluated evaluate_compare(EvalContext& ctx) {
  const Compare compare{direction_of(word_or(ctx.attr("comparison_direction"), "EQ")),
                        word_or(ctx.attr("compare_type"), "") == "TOTALORDER"};
  return map_binary(ctx, ctx.operands[0], ctx.operands[1], compare);
}

Evaluated evaluate_select(EvalContext& ctx) {
  const Array& pred = ctx.operands[0];
  if (pred.is_splat() || pred.shape().empty())
    return std::vector{ctx.operands[to_bool(pred) ? 1 : 2]};
  Array out(ctx.result_type());
  auto to = out.mutable_bytes();
  auto choose = pred.as<Bool>();
  const auto size = static_cast<std::size_t>(byte_size(out.dtype()));
  for (std::size_t i = 0; i < choose.size(); ++i) {
    const Array& from = ctx.operands[bool(choose[i]) ? 1 : 2];
    std::memcpy(to.data() + i * size, from.element(static_cast<std::int64_t>(i)).data(), size);
  }
  return std::vector{std::move(out)};
}

// min(max(operand, low), high)
template <typename T>
T clamped(T low, T x, T high) {
  return Extremum<false>{}(Extremum<true>{}(x, low), high);
}

// The bounds may be scalars.
Evaluated evaluate_clamp(EvalContext& ctx) {
  const Array &low = ctx.operands[0], &x = ctx.operands[1], &high = ctx.operands[2];
  return dispatch(x.dtype(), [&](auto tag) -> Evaluated {
    using T = typename decltype(tag)::type;
    Array out(ctx.result_type());
    auto to = out.as_mutable<T>();
    const bool one_low = low.shape().empty(), one_high = high.shape().empty();
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      const T least = read_element<T>(low, one_low ? 0 : i);
      const T most = read_element<T>(high, one_high ? 0 : i);
      to[static_cast<std::size_t>(i)] = clamped<T>(least, read_element<T>(x, i), most);
    }
    return std::vector{std::move(out)};
  });
}

template <Direction kDirection>
struct CompareIn : Compare {
  CompareIn() : Compare{kDirection} {}
};

}  // namespace

ScalarFunction comparison_scalar(ScalarOp op, DType dtype) {
  switch (op) {
    case ScalarOp::equal:
      return binary_scalar<CompareIn<Direction::eq>>(dtype);
    case ScalarOp::not_equal:
      return binary_scalar<CompareIn<Direction::ne>>(dtype);
    case ScalarOp::less:
      return binary_scalar<CompareIn<Direction::lt>>(dtype);
    case ScalarOp::less_equal:
      return binary_scalar<CompareIn<Direction::le>>(dtype);
    case ScalarOp::greater:
      return binary_scalar<CompareIn<Direction::gt>>(dtype);
    case ScalarOp::greater_equal:
      return binary_scalar<CompareIn<Direction::ge>>(dtype);
    default:
      return nullptr;
  }
}

ScalarFunction clamp_scalar(DType dtype) {
  return dispatch(dtype, [](auto tag) -> ScalarFunction {
    using T = typename decltype(tag)::type;
    if constexpr (is_kernel_type(dtype_of<T>()))
      return [](std::uint64_t low, std::uint64_t x, std::uint64_t high) {
        return to_bits(clamped<T>(from_bits<T>(low), from_bits<T>(x), from_bits<T>(high)));
      };
    return nullptr;
  });
}

Evaluate choice_evaluation(std::string_view op) {
  if (op == "compare") return evaluate_compare;
  if (op == "select") return evaluate_select;
  if (op == "clamp") return evaluate_clamp;
  return nullptr;
}

}  // namespace heddle
