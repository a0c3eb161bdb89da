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

// Memory for a try, with whatever lies there, to be taken and used while it runs. All tries of a
// device have the same memory, one after the other: to get gigabytes takes longer than to use them.
class TrialMemory {
 public:
  explicit TrialMemory(Context& context) : context_(context) {}
  Expected<Pointer> take(std::int64_t bytes);

 private:
  Context& context_;
  std::size_t block_ = 0;   // of the device's
  std::int64_t taken_ = 0;  // of that block
};
// Who may try something one after the other; the memory of tries goes back with the last of them.
class TrialHold {
 public:
  explicit TrialHold(Context& context);
  ~TrialHold();
  TrialHold(const TrialHold&) = delete;
  TrialHold& operator=(const TrialHold&) = delete;

 private:
  Context& context_;
};

// The number that the notebook has for a key.
std::optional<std::size_t> noted_way(const Notebook& notebook, const std::string& key,
                                     std::size_t ways);

// The number of the best way, as the notebook has it or as it was timed; the first where none can
// be tried. `run` puts one on the stream. The same key has the same answer for as long as the
// notebook lasts, so that results keep their bits.
std::size_t fastest(Context& context, const Notebook& notebook, const std::string& key,
                    std::size_t ways,
                    const std::function<Verdict(std::size_t way, Handle stream)>& run);

}  // namespace heddle::cuda
