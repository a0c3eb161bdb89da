// Sorts on a GPU: of lines along any dimension, stable, with any number of operands.
#pragma once

#include "device/cuda/sort_text.h"
#include "device/cuda/text_call.h"

namespace heddle::cuda {

// A line that fits is sorted by one block, several short ones together; a longer one in tiles,
// which are merged two by two. Null where no kernel sorts it.
std::unique_ptr<CudaCall> sort_call(const FunctionLoader& load, const Program& program,
                                    const Op& op);

// Items of a text that gives them, in order.
class SortedItems {
 public:
  static Expected<SortedItems> load(const FunctionLoader& load, const SortText& sort);
  std::int64_t room_bytes() const;  // for two lists
  // Where they lie in the room; `operands` are what the text compares.
  Expected<Pointer> run(CudaQueue& queue, std::vector<Pointer> operands, Pointer room) const;

 private:
  explicit SortedItems(const SortText& sort) : sort_(sort) {}
  std::int64_t list_bytes() const;

  SortText sort_;
  Handle tiles_ = nullptr, merge_ = nullptr;
};

}  // namespace heddle::cuda
