#include "device/rearrangement.h"

namespace heddle {

std::int64_t Rearrangement::elements() const {
  std::int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.size;
  return count;
}

std::pair<std::int64_t, std::int64_t> Rearrangement::range_of(std::size_t axis) const {
  std::int64_t low = axes[axis].offset, high = low;
  for (const Dim& dim : dims)
    if (dim.axis == axis) (dim.step < 0 ? low : high) += (dim.size - 1) * dim.step;
  return {low, high};
}

bool Rearrangement::is_always_there(std::size_t axis) const {
  const auto [low, high] = range_of(axis);
  return axes[axis].hole == 1 && low >= 0 && high < axes[axis].size;
}

bool Rearrangement::is_view() const {
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (!is_always_there(a)) return false;
  return true;
}

std::int64_t Rearrangement::start() const {
  std::int64_t at = 0;
  for (const Axis& axis : axes) at += axis.offset * axis.stride;
  return at;
}

std::vector<std::int64_t> Rearrangement::strides() const {
  std::vector<std::int64_t> all;
  for (const Dim& dim : dims) all.push_back(dim.step * axes[dim.axis].stride);
  return all;
}

bool Rearrangement::is_identity() const {
  if (!is_view()) return false;
  std::int64_t dense = 1, source = 1;
  for (const Axis& axis : axes) source *= axis.size;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d].size > 1 && dims[d].step * axes[dims[d].axis].stride != dense) return false;
    dense *= dims[d].size;
  }
  return start() == 0 && dense == source;
}

std::int64_t Rearrangement::source_of(std::int64_t element) const {
  std::vector<std::int64_t> index;
  for (const Axis& axis : axes) index.push_back(axis.offset);
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[dims[d].axis] += element % dims[d].size * dims[d].step;
    element /= dims[d].size;
  }
  std::int64_t at = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const Axis& axis = axes[a];
    if (index[a] < 0 || index[a] % axis.hole != 0 || index[a] / axis.hole >= axis.size) return -1;
    at += index[a] / axis.hole * axis.stride;
  }
  return at;
}

}  // namespace heddle
