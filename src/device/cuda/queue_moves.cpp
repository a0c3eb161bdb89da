// What ranks on one GPU do with each other's memory.
#include <algorithm>

#include "device/cuda/combine.h"
#include "device/cuda/device.h"
#include "device/cuda/queue.h"

namespace heddle::cuda {

namespace {

constexpr unsigned kOnDevice = 2;
constexpr std::int64_t kMostApart = INT32_MAX;  // rows of one copy, in bytes

// As the driver has it: one side, and the whole.
struct RowsSide {
  std::size_t first_byte = 0, first_row = 0;
  unsigned kind = kOnDevice;
  const void* host = nullptr;
  Pointer device = 0;
  void* array = nullptr;
  std::size_t apart = 0;
};
struct RowsCopy {
  RowsSide from, to;
  std::size_t bytes = 0, rows = 0;
};

}  // namespace

Verdict CudaQueue::copy_runs(const Copy& copy) {
  if (copy.count == 1 || std::max(copy.from_step, copy.to_step) > kMostApart) {
    for (std::int64_t i = 0; i < copy.count; ++i)
      HEDDLE_TRY_VOID(
          this->copy(copy.from + i * copy.from_step, copy.to + i * copy.to_step, copy.run));
    return yes();
  }
  return doing([&]() -> Verdict {
    RowsCopy rows;
    rows.from.device = copy.from.value;
    rows.from.apart = static_cast<std::size_t>(copy.from_step);
    rows.to.device = copy.to.value;
    rows.to.apart = static_cast<std::size_t>(copy.to_step);
    rows.bytes = static_cast<std::size_t>(copy.run);
    rows.rows = static_cast<std::size_t>(copy.count);
    return driver_.checked(driver_.copy_rows(&rows, stream()), "copy");
  });
}

bool CudaQueue::can_combine(ReduceOp op, DType dtype, std::size_t parts) const {
  return parts <= kMostCombined && has_combination(op, dtype);
}

Verdict CudaQueue::combine(const Combination& c) {
  return doing([&]() -> Verdict {
    HEDDLE_CHECK(can_combine(c.op, c.dtype, c.parts.size()), "there is no kernel for this sum");
    HEDDLE_TRY(const Handle kernel, device_.combine_kernel(c.op, c.dtype));
    Pointer parts[kMostCombined] = {};
    std::ranges::transform(c.parts, parts, [](DeviceAddress a) { return Pointer{a.value}; });
    auto count = static_cast<std::int64_t>(c.parts.size());
    Pointer out = c.out.value;
    std::int64_t run = c.run, step = c.count == 1 ? c.run : c.step, elements = c.run * c.count;
    if (elements == 0) return yes();
    const std::int64_t blocks = (elements + kCombiningThreads - 1) / kCombiningThreads;
    void* arguments[] = {parts, &count, &out, &run, &step, &elements};
    return driver_.checked(
        driver_.launch(kernel, static_cast<unsigned>(std::min(blocks, kMostCombiningBlocks)), 1, 1,
                       kCombiningThreads, 1, 1, 0, stream(), arguments, nullptr),
        "launch a kernel");
  });
}

}  // namespace heddle::cuda
