#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace heddle {

int usable_cores() {
  constexpr int kMost = 8192;
  std::vector<unsigned char> set(CPU_ALLOC_SIZE(kMost));
  auto* const mask = reinterpret_cast<cpu_set_t*>(set.data());
  if (::sched_getaffinity(0, set.size(), mask) == 0) return CPU_COUNT_S(set.size(), mask);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace heddle
