// The value that changes nothing under a combiner.
#include "heddle/kernel.h"
#include "ir/eval/elementwise.h"

namespace heddle {

namespace {

// The end of the range: what every other value is at least, or at most.
template <typename T>
T extreme(bool largest) {
  if constexpr (BoolScalar<T>) {
    return Bool(largest);
  } else if constexpr (FloatScalar<T>) {
    const double infinity = std::numeric_limits<double>::infinity();
    return static_cast<T>(largest ? infinity : -infinity);
  } else if constexpr (IntScalar<T>) {
    return largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  } else {
    return T{};
  }
}

template <typename T>
T all_ones() {
  if constexpr (IntScalar<T>) return static_cast<T>(-1);
  return extreme<T>(true);
}

template <typename T>
T neutral(ScalarOp op) {
  switch (op) {
    case ScalarOp::add:
      // Of floats -0: +0 would turn a -0 into +0.
      return convert_scalar<T>(FloatScalar<T> ? -0.0 : 0.0);
    case ScalarOp::multiply:
      return convert_scalar<T>(1.0);
    case ScalarOp::minimum:
    case ScalarOp::maximum:
      return extreme<T>(op == ScalarOp::minimum);
    case ScalarOp::bit_and:
      return all_ones<T>();
    default:
      HEDDLE_CHECK(op == ScalarOp::bit_or || op == ScalarOp::bit_xor, "{} is no combiner",
                   name(op));
      return convert_scalar<T>(0.0);
  }
}

}  // namespace

std::uint64_t neutral_bits(ScalarOp op, DType type) {
  HEDDLE_CHECK(is_kernel_type(type), "{}", name(type));
  return dispatch(type, [&](auto tag) -> std::uint64_t {
    using T = typename decltype(tag)::type;
    if constexpr (is_kernel_type(dtype_of<T>())) return to_bits(neutral<T>(op));
    return 0;
  });
}

}  // namespace heddle
