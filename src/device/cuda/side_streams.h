// Streams beside a stream: work that is cut into parts which do not fill the GPU each runs on them
// at the same time. They join the stream again, so that nobody else has to know of them; in a
// recording they are branches of its graph.
#pragma once

#include <vector>

#include "device/cuda/context.h"

namespace heddle::cuda {

class SideStreams {
 public:
  explicit SideStreams(Context& context) : context_(context) {}
  ~SideStreams();
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;

  static constexpr std::size_t kMostLanes = 8;

  // Calls `work` for each part with the stream that it goes to: as many lanes as given, the first
  // of them `main` itself. They begin after what is on `main` now, and what comes to it later waits
  // for all of them.
  template <typename Work>
  Verdict run(Handle main, std::size_t lanes, std::int64_t parts, Work work) {
    HEDDLE_TRY_VOID(fork(main, lanes));
    Verdict done = yes();
    for (std::int64_t part = 0; part < parts && done; ++part) {
      const std::size_t lane = static_cast<std::size_t>(part) % lanes;
      done = work(part, lane, lane == 0 ? main : sides_[lane - 1].stream);
    }
    const Verdict joined = join(main, lanes);  // also after a failure: a recording has to end
    return done ? joined : done;
  }

 private:
  struct Side {
    Handle stream = nullptr, event = nullptr;
  };
  Verdict make(std::size_t sides);
  Verdict fork(Handle main, std::size_t lanes);
  Verdict join(Handle main, std::size_t lanes);

  Context& context_;
  Handle begin_ = nullptr;  // the event at which sides begin
  std::vector<Side> sides_;
};

}  // namespace heddle::cuda
