// A call that is one kernel of its own text.
#pragma once

#include <functional>

#include "device/cuda/queue.h"

namespace heddle::cuda {

// Loads a function of a text by its name; it is compiled where the cache has it not.
using FunctionLoader =
    std::function<Expected<Handle>(const std::string& text, const char* function)>;

// Launches a function whose arguments are all words of eight bytes: addresses and numbers.
inline Verdict launch_words(CudaQueue& queue, Handle function, std::int64_t blocks,
                            unsigned threads, std::vector<Pointer> words) {
  std::vector<void*> arguments;
  for (Pointer& word : words) arguments.push_back(&word);
  const Driver& driver = queue.context().driver();
  return driver.checked(driver.launch(function, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1,
                                      0, queue.stream(), arguments.data(), nullptr),
                        "launch a kernel");
}

// Takes the addresses of operands, then those of results.
class TextCall final : public CudaCall {
 public:
  TextCall(Handle function, std::int64_t blocks, unsigned threads, std::string text)
      : function_(function),
        blocks_(static_cast<unsigned>(blocks)),
        threads_(threads),
        text_(std::move(text)) {}

  std::string text() const override { return text_; }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    std::vector<Pointer> addresses;
    for (DeviceAddress a : memory.operands) addresses.push_back(a.value);
    for (DeviceAddress a : memory.results) addresses.push_back(a.value);
    return launch_words(queue, function_, blocks_, threads_, std::move(addresses));
  }

 private:
  Handle function_;
  unsigned blocks_, threads_;
  std::string text_;
};

}  // namespace heddle::cuda
