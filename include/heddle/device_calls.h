// DeviceCalls: which ops a device computes by calls of its own. Lowering and stitching ask; only
// the device answers.
#pragma once

#include <string>

#include "heddle/program.h"

namespace heddle {

// What a product wants of its matrices: elements from row to row that are a multiple of this, and
// as many terms where it sums along rows; and the seconds that it takes less then than with an odd
// number of them.
struct EvenRows {
  std::int64_t multiple = 1;  // any will do
  double seconds = 0;
};

// What the call of a product may do to every element before it writes it: add one of a row (bias)
// and one of a matrix as large as the result (addend), then apply a function. It may also write
// what there was before the function. The gradient of GELU multiplies by GELU's derivative at
// another matrix as large as the result.
struct ProductThen {
  // gelu in its form with tanh
  enum class Function : std::uint8_t { none, relu, gelu, gelu_gradient };
  bool bias = false, addend = false;
  Function function = Function::none;
  bool keeps = false;
};

class DeviceCalls {
 public:
  virtual ~DeviceCalls() = default;
  // Whether there is a call for some ops of this row, so that it is better kept than expanded.
  virtual bool has_call(const OpDef& def) const = 0;
  // Whether the device's call computes it better than a kernel would. Asked of ops that a kernel
  // could compute; where there is neither, the reference evaluation does it.
  virtual bool prefers_call(const Program& program, const Op& op) const = 0;
  // Whether the call of a product reads its operands and writes its result by strides.
  virtual bool takes_views(const Program& program, const Op& op) const = 0;
  // Whether the call of this product can do that as well. The bias goes along the result's last
  // dimension.
  virtual bool can_go_on(const Program& /*program*/, const Op& /*op*/,
                         const ProductThen& /*then*/) const {
    return false;
  }
  // Asked of products whose operands or results have uneven rows.
  virtual EvenRows even_rows(const Program& /*program*/, const Op& /*op*/) const { return {}; }
  // What these answers follow from beside the question, in words: plans are kept for other
  // processes with the same. Empty: they are not kept.
  virtual std::string plans_depend_on() const { return {}; }
};

}  // namespace heddle
