#include "heddle/tensor.h"

#include "layout/digits.h"

namespace heddle {

using namespace detail;

std::int64_t AddressExpr::evaluate(std::span<const std::int64_t> x) const {
  std::int64_t address = offset;
  for (const AddressTerm& t : terms) {
    std::int64_t i = (x[t.dim] - t.origin) / t.divisor;
    address += (t.modulus == 0 ? i : i % t.modulus) * t.stride;
  }
  return swizzle ? swizzle->apply(address) : address;
}

std::string AddressExpr::str(std::span<const std::string> names) const {
  std::string text;
  auto join = [&](const std::string& term) { text += (text.empty() ? "" : " + ") + term; };
  for (const AddressTerm& t : terms) {
    std::string i = t.origin == 0  ? names[t.dim]
                    : t.origin > 0 ? fmt::format("({} - {})", names[t.dim], t.origin)
                                   : fmt::format("({} + {})", names[t.dim], -t.origin);
    if (t.divisor != 1) i = fmt::format("{} / {}", i, t.divisor);
    if (t.modulus != 0) i = fmt::format("{} % {}", i, t.modulus);
    if (t.divisor != 1 || t.modulus != 0) i = "(" + i + ")";
    if (t.stride != 1) i += fmt::format(" * {}", t.stride);
    join(i);
  }
  if (offset != 0 || text.empty()) join(std::to_string(offset));
  if (!swizzle) return text;
  return fmt::format("swizzle<{},{},{}>({})", swizzle->bits, swizzle->base, swizzle->shift, text);
}

Expected<AddressExpr> lower_address(const Layout& layout, AxisId axis) {
  if (!layout.concrete()) return reason("[address] the layout has unknown sizes; bind them first");
  HEDDLE_TRY(auto groups, group(layout, layout.padded_shape()));
  AddressExpr expr;
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    std::int64_t place = layout.dims()[d].padded.factor();
    for (std::size_t i = 0; i < groups[d].size(); ++i) {
      const Iter& digit = groups[d][i];
      place /= digit.extent.factor();
      if (digit.axis != axis) continue;
      expr.terms.push_back({d, layout.dims()[d].origin, place, i == 0 ? 0 : digit.extent.factor(),
                            digit.stride.factor()});
    }
  }
  expr.offset = layout.offset_on(axis).factor();
  if (layout.swizzle() && layout.swizzle()->axis == axis) expr.swizzle = layout.swizzle();
  return expr;
}

Expected<std::uintptr_t> Tensor::address(std::span<const std::int64_t> x, AxisId axis) const {
  HEDDLE_TRY(Coord cell, position_of(layout, x));
  return base + static_cast<std::uintptr_t>(coord_on(cell, axis) * byte_size(dtype));
}

}  // namespace heddle
