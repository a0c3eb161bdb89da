// Ranks that are threads of a test.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "heddle/transport.h"

namespace heddle {

// What each rank ends with: nothing where it ends well.
inline std::vector<std::string> on_ranks(int ranks, const std::function<Verdict(Transport&)>& body,
                                         double watchdog = 3) {
  auto transports = thread_transports(ranks, {watchdog});
  std::vector<std::string> ends(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      auto transport = std::move(transports[static_cast<std::size_t>(r)]);
      transport->enter();
      const Verdict verdict = body(*transport);
      if (!verdict) ends[static_cast<std::size_t>(r)] = verdict.reason();
    });
  for (std::thread& t : threads) t.join();
  return ends;
}

}  // namespace heddle
