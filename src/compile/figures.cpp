#include "compile/figures.h"

#include <algorithm>

#include "heddle/cost.h"

namespace heddle {

MachineFigures figures_for(const Target& target, std::int64_t devices) {
  if (target.options.machine) return *target.options.machine;
  const MachineFigures whole = figures_of_this_machine();
  if (target.ranks || devices <= 1) return whole;
  // More devices than cores take turns: each has a core while it runs.
  const auto sharing = static_cast<int>(std::min<std::int64_t>(devices, whole.workers));
  return figures_of_this_machine(std::max(1, whole.workers / sharing));
}

}  // namespace heddle
