#include "compile/figures.h"

#include <algorithm>
#include <climits>

#include "compile/stages.h"

namespace heddle {

MachineFigures figures_for(const Target& target, std::int64_t devices) {
  if (target.options.machine) return *target.options.machine;
  // Ranks have a device each; threads of one process share this one.
  const std::int64_t sharers = target.ranks ? 1 : std::min<std::int64_t>(devices, INT_MAX);
  return device_of(target).figures(static_cast<int>(sharers));
}

}  // namespace heddle
