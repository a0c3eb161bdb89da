// Work that the caller may want to end: on a thread of its own, while this one asks.
#pragma once

#include <atomic>
#include <chrono>
#include <future>

namespace heddle {

// Calls work(stop) and returns its future when it is over. Now and then `ask` is called here; its
// yes sets `stop`, which the work is to look at.
template <typename Work, typename Ask>
auto run_watched(Work work, Ask ask) {
  constexpr std::chrono::milliseconds kPause{50};
  std::atomic<bool> stop = false;
  auto under_way = std::async(std::launch::async,
                              [&] { return work(static_cast<const std::atomic<bool>&>(stop)); });
  while (under_way.wait_for(kPause) != std::future_status::ready)
    if (ask()) stop = true;
  return under_way;
}

}  // namespace heddle
