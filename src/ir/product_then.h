// heddle.product_then: a matrix product whose elements are changed before they are written.
#pragma once

#include "heddle/device_calls.h"

namespace heddle {

ProductThen product_then(const Program& program, const Op& op);
// The attributes that say so, beside those of the product.
void add_product_then(AttrDict& attrs, const ProductThen& then);

// The numbers of its operands; only where there are such.
inline std::size_t bias_operand() { return 2; }
inline std::size_t addend_operand(const ProductThen& then) { return then.bias ? 3 : 2; }
// What the function is the gradient at.
inline std::size_t at_operand(const ProductThen& then) {
  return addend_operand(then) + (then.addend ? 1 : 0);
}
inline bool is_gradient(const ProductThen& then) {
  return then.function == ProductThen::Function::gelu_gradient;
}

// "bias gelu"
std::string words_of(const ProductThen& then);

}  // namespace heddle
