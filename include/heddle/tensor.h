// Tensor: a layout with a place, a scope and an element type; and its address as an expression.
#pragma once

#include "heddle/dtype.h"
#include "heddle/layout.h"

namespace heddle {

// One part of an address: ((x[dim] - origin) / divisor % modulus) * stride; modulus 0 means none.
struct AddressTerm {
  std::size_t dim;
  std::int64_t origin, divisor, modulus, stride;
};

// What a code generator emits for an element's address on one memory axis, in elements.
struct AddressExpr {
  std::vector<AddressTerm> terms;
  std::int64_t offset = 0;
  std::optional<Swizzle> swizzle;
  std::int64_t evaluate(std::span<const std::int64_t> x) const;
  // Text such as "(i0 / 8) * 128 + i1 + 4", with the given index names.
  std::string str(std::span<const std::string> names) const;
};
Expected<AddressExpr> lower_address(const Layout& layout, AxisId axis);

struct Tensor {
  Layout layout;
  DType dtype = DType::f32;
  Scope scope = Scope::device;  // who holds one copy of the storage
  std::uintptr_t base = 0;      // where element address 0 is
  // The byte address of x inside its holder's storage.
  Expected<std::uintptr_t> address(std::span<const std::int64_t> x, AxisId axis) const;
};

}  // namespace heddle
