// Names and small facts of the kernel IR.
#include "heddle/kernel.h"

namespace heddle {

std::string_view name(Reach reach) {
  constexpr std::string_view names[] = {"in", "out", "phases", "block"};
  return names[static_cast<std::size_t>(reach)];
}

std::int64_t Phase::blocks() const {
  std::int64_t n = 1;
  for (const OuterLoop& loop : outer) n *= loop.blocks();
  return n;
}

}  // namespace heddle
