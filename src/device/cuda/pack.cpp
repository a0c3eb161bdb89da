#include "device/cuda/pack.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace heddle::cuda {

namespace {

constexpr std::size_t kMostBytes = 32'000;  // of a function's arguments
constexpr std::size_t kLeastKernels = 4;    // that are worth a text of their own
constexpr std::size_t kMostTexts = 16;      // of a pack: each is compiled again
constexpr std::int64_t kMostBlocksOfAll = 1LL << 30;

std::size_t entry_bytes(std::size_t pointers) { return 8 + 8 * pointers; }

}  // namespace

std::vector<std::vector<std::size_t>> CudaPack::chosen(const std::vector<LaunchKernel>& kernels,
                                                       const CudaLimits& limits) {
  std::vector<std::vector<std::size_t>> packs;
  std::vector<std::size_t> open;
  std::size_t pointers = 0;
  std::int64_t blocks = 0;
  std::unordered_map<std::string, std::size_t> texts;
  const auto end = [&] {
    if (open.size() >= kLeastKernels) packs.push_back(std::move(open));
    open.clear();
    texts.clear();
    pointers = 0;
    blocks = 0;
  };
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Kernel& kernel = kernels[k].kernel;
    if (!can_be_packed(kernel, limits)) continue;
    const std::size_t more = std::max(pointers, kernel.buffers.size());
    const std::int64_t grid = cuda_plan(kernel, limits).phases[0].grid;
    const std::string text = print(kernel);
    const bool fits = (open.size() + 1) * entry_bytes(more) <= kMostBytes &&
                      blocks + grid <= kMostBlocksOfAll &&
                      (texts.contains(text) || texts.size() < kMostTexts);
    if (!fits) end();
    texts.try_emplace(text, texts.size());
    pointers = std::max(pointers, kernel.buffers.size());
    blocks += grid;
    open.push_back(k);
  }
  end();
  return packs;
}

CudaPack::CudaPack(const std::vector<LaunchKernel>& kernels, std::vector<std::size_t> numbers,
                   const CudaLimits& limits)
    : numbers_(std::move(numbers)) {
  std::unordered_map<std::string, unsigned> texts;
  std::vector<const Kernel*> distinct;
  for (std::size_t number : numbers_) {
    const Kernel& kernel = kernels[number].kernel;
    const auto [at, is_new] =
        texts.try_emplace(print(kernel), static_cast<unsigned>(distinct.size()));
    if (is_new) distinct.push_back(&kernel);
    const CudaPhase phase = cuda_plan(kernel, limits).phases[0];
    first_.push_back(grid_);
    kernel_.push_back(at->second);
    grid_ += static_cast<unsigned>(phase.grid);
    threads_ = phase.threads;
    pointers_ = std::max(pointers_, kernel.buffers.size());
  }
  text_ = emit_cuda_pack(distinct, numbers_.size(), pointers_, limits);
}

Verdict CudaPack::load(const std::shared_ptr<Context>& context, const std::string& object) {
  CudaPlan plan;
  plan.phases.push_back({std::string(kCudaPack), grid_, threads_});
  HEDDLE_TRY(code_, CudaCode::load(context, object, plan));
  return yes();
}

Verdict CudaPack::launch(Handle stream, const std::vector<LaunchKernel>& kernels,
                         const DeviceAddress* slots) const {
  std::vector<std::uint64_t> argument(numbers_.size() * entry_bytes(pointers_) / 8);
  std::uint64_t* at = argument.data();
  for (std::size_t e = 0; e < numbers_.size(); ++e, at += 1 + pointers_) {
    const LaunchKernel& given = kernels[numbers_[e]];
    const unsigned head[] = {first_[e], kernel_[e]};
    std::memcpy(at, head, sizeof(head));
    for (std::size_t b = 0; b < given.slots.size(); ++b)
      if (given.slots[b] != kNone) at[1 + b] = (slots[given.slots[b]] + given.shift[b]).value;
  }
  return code_->launch(stream, argument.data());
}

}  // namespace heddle::cuda
