// Of several ways to compute the same, the fastest: timed once on the GPU, and noted.
#pragma once

#include <functional>
#include <optional>

#include "device/cuda/context.h"

namespace heddle::cuda {

// What was found out about a GPU and lasts longer than the process: words by key.
struct Notebook {
  std::function<std::optional<std::string>(const std::string& key)> read;
  std::function<void(const std::string& key, const std::string& words)> write;
};

// Memory for a try, with whatever lies there; it goes back.
class TrialMemory {
 public:
  explicit TrialMemory(Context& context) : context_(context) {}
  ~TrialMemory();
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;
  Expected<Pointer> take(std::int64_t bytes);

 private:
  Context& context_;
  std::vector<std::pair<Pointer, std::int64_t>> taken_;
};

// The number of the best way, as the notebook has it or as it was timed; the first where none can
// be tried. `run` puts one on the stream. The same key has the same answer for as long as the
// notebook lasts, so that results keep their bits.
std::size_t fastest(Context& context, const Notebook& notebook, const std::string& key,
                    std::size_t ways,
                    const std::function<Verdict(std::size_t way, Handle stream)>& run);

}  // namespace heddle::cuda
