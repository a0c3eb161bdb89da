// What the machine copies, beside which rates of kernels are shown.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "heddle/block.h"
#include "heddle/explain_report.h"
#include "heddle/thread_pool.h"

namespace heddle {

double copy_rate() {
  static const double rate = [] {
    // Beyond every cache, and each worker a part in one piece.
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    const auto workers = static_cast<std::size_t>(ThreadPool::shared().threads());
    const std::size_t part = kBytes / workers;
    const auto from = Block::zeroed(kBytes), to = Block::zeroed(kBytes);
    std::memset(from->data(), 1, kBytes);  // pages of their own, not the one of zeros
    double best = 1;
    for (int turn = 0; turn < 4; ++turn) {
      const auto start = std::chrono::steady_clock::now();
      ThreadPool::shared().parallel_for(static_cast<std::int64_t>(workers),
                                        [&](std::int64_t worker, int) {
                                          const auto at = static_cast<std::size_t>(worker) * part;
                                          std::memcpy(to->data() + at, from->data() + at, part);
                                        });
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best = std::max(best, 2.0 * static_cast<double>(kBytes) / took.count());
    }
    return best;
  }();
  return rate;
}

}  // namespace heddle
