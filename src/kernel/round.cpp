#include "kernel/round.h"

namespace heddle {

const AxisRegistry& kernel_axes() {
  static const AxisRegistry axes = [] {
    AxisRegistry made = AxisRegistry::standard();
    for (const char* name : {"turn", "step"})
      (void)made.add({name, AxisKind::memory, Scope::thread, Scope::element, 0});
    return made;
  }();
  return axes;
}

AxisId kernel_axis(RoundAxis axis) {
  static const AxisId thread = *kernel_axes().find("thread"), reg = *kernel_axes().find("reg"),
                      vec = *kernel_axes().find("vec");
  return axis == RoundAxis::thread ? thread : axis == RoundAxis::reg ? reg : vec;
}

Round::Round(const std::vector<std::vector<Digit>>& dims) {
  LayoutParts parts;
  for (const auto& digits : dims) {
    std::int64_t size = 1;
    for (const Digit& digit : digits) {
      size *= digit.extent;
      if (digit.extent > 1)
        parts.digits.push_back({digit.extent, digit.apart, kernel_axis(digit.axis)});
    }
    parts.dims.push_back({.size = size, .padded = size});
  }
  layout_ = Layout::make(std::move(parts)).value();
  dims_ = group(layout_, layout_.padded_shape()).value();
}

int Round::size(std::size_t dim, RoundAxis axis) const {
  std::int64_t size = 1;
  for (const Iter& digit : dims_[dim])
    if (digit.axis == kernel_axis(axis)) size *= digit.extent.factor();
  return static_cast<int>(size);
}

int Round::apart(std::size_t dim) const {
  std::int64_t inner = 1;
  for (std::size_t i = dims_[dim].size(); i-- > 0;) {
    if (dims_[dim][i].axis == kernel_axis(RoundAxis::reg)) break;
    if (dims_[dim][i].axis == kernel_axis(RoundAxis::thread))
      inner *= dims_[dim][i].extent.factor();
  }
  return static_cast<int>(inner);
}

RoundDimension& RoundDimension::by(std::int64_t extent, std::string_view axis) {
  padded_ *= extent;
  if (extent > 1) digits_.push_back({extent, 1, *kernel_axes().find(axis)});
  return *this;
}

RoundDimension& RoundDimension::by(const Digits& digits) {
  for (const Iter& digit : digits) padded_ *= digit.extent.factor();
  digits_.insert(digits_.end(), digits.begin(), digits.end());
  return *this;
}

void RoundDimension::add_to(LayoutParts& parts) const {
  parts.dims.push_back({.size = size_, .padded = padded_});
  parts.digits.insert(parts.digits.end(), digits_.begin(), digits_.end());
}

}  // namespace heddle
