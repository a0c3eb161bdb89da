#include "compile/figures.h"

#include <algorithm>

#include "compile/stages.h"

namespace heddle {

MachineFigures figures_for(const Target& target, std::int64_t devices) {
  if (target.options.machine) return *target.options.machine;
  MachineFigures figures = device_of(target).figures();
  if (target.ranks || devices <= 1) return figures;
  // More devices than cores take turns: each has a core while it runs.
  const auto sharing = static_cast<int>(std::min<std::int64_t>(devices, figures.workers));
  figures.workers = std::max(1, figures.workers / sharing);
  figures.far_cache /= sharing;
  figures.copy_rate /= sharing;
  return figures;
}

}  // namespace heddle
