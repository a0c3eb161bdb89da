// Rearrangements by kernels of a GPU.
#pragma once

#include <optional>
#include <vector>

#include "device/cuda/context.h"
#include "device/rearrangement.h"

namespace heddle::cuda {

// The same in as few dimensions and as wide words as there can be, for a kernel.
struct RearrangeWork {
  static constexpr int kMostDims = 10, kMostAxes = 3;
  struct Arguments {
    std::uint64_t words = 0;
    std::int64_t start = 0;  // of the source, in words
    std::int32_t dims = 0, axes = 0;
    std::int64_t size[kMostDims] = {}, stride[kMostDims] = {}, step[kMostDims] = {};
    std::int32_t axis[kMostDims] = {};  // -1: the element is always there
    // n / size is the upper half of n * inverse, shifted, for n below 2^31.
    std::uint32_t inverse[kMostDims] = {}, shift[kMostDims] = {};
    std::int64_t limit[kMostAxes] = {}, offset[kMostAxes] = {}, hole[kMostAxes] = {},
                 apart[kMostAxes] = {};
  };
  Arguments arguments;
  int word_bytes = 4;
  bool is_wide = false;  // numbers of words, or places, need more than 31 bits
  Handle own = nullptr;  // a function for this alone, where it is worth one

  // Nothing where it has more dimensions than the kernel takes.
  static std::optional<RearrangeWork> of(const Rearrangement& what, std::int64_t element_bytes);
};

// The kernel, of one GPU.
class RearrangeKernels {
 public:
  static std::string source();
  // The text of `rearrange` for one work alone, which knows its sizes.
  static std::string source_of(const RearrangeWork& work);
  static Expected<std::shared_ptr<const RearrangeKernels>> load(
      const std::shared_ptr<Context>& context, const std::string& object);

  Verdict run(Handle stream, const RearrangeWork& work, Pointer from, Pointer to) const;

 private:
  std::shared_ptr<Context> context_;
  Handle module_ = nullptr;
  Handle functions_[5][2] = {};  // by the logarithm of the word's bytes; of few words, of many
};

}  // namespace heddle::cuda
