#include "device/cuda/pack.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace heddle::cuda {

namespace {

constexpr std::size_t kMostBytes = 32'000;  // of a function's arguments
constexpr std::size_t kLeastKernels = 4;    // that are worth a text of their own
constexpr std::size_t kMostTexts = 16;      // of a pack: each is compiled again
constexpr std::int64_t kMostBlocksOfAll = 1LL << 30;
constexpr std::int64_t kMostOwnBytes = 48 << 10;  // of functions that one function has in line

std::size_t entry_bytes(std::size_t pointers) { return 4 + 8 + 8 * pointers; }

}  // namespace

std::vector<std::vector<std::size_t>> CudaPack::chosen(const std::vector<LaunchKernel>& kernels,
                                                       const CudaLimits& limits) {
  // Open for kernels whose phases have as many threads.
  struct Open {
    std::vector<std::size_t> numbers = {};
    std::size_t pointers = 0;
    std::vector<std::int64_t> blocks = {}, own = {};  // by phase
    std::unordered_set<std::string> texts = {};
  };
  std::map<std::vector<int>, Open> all;
  std::vector<std::vector<std::size_t>> packs;
  if (kernels.size() < kLeastKernels) return packs;
  std::unordered_map<std::string, std::optional<CudaPlan>>
      plans;  // by text; none: not to be packed
  const auto end = [&](Open& open) {
    if (open.numbers.size() >= kLeastKernels) packs.push_back(std::move(open.numbers));
    open = {};
  };
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Kernel& kernel = kernels[k].kernel;
    const std::string text = print(kernel);
    const auto [known, is_first] = plans.try_emplace(text);
    if (is_first && can_be_packed(kernel, limits)) known->second = cuda_plan(kernel, limits);
    if (!known->second) continue;
    const CudaPlan& plan = *known->second;
    std::vector<int> threads;
    for (const CudaPhase& phase : plan.phases) threads.push_back(phase.threads);
    Open& open = all[threads];
    const auto fits = [&] {
      const std::size_t more = std::max(open.pointers, kernel.buffers.size());
      bool fit = (open.numbers.size() + 1) * entry_bytes(more) <= kMostBytes &&
                 (open.texts.contains(text) || open.texts.size() < kMostTexts);
      for (std::size_t p = 0; p < open.blocks.size(); ++p)
        fit =
            fit && open.blocks[p] + plan.phases[p].grid <= kMostBlocksOfAll &&
            (open.texts.contains(text) || open.own[p] + plan.phases[p].own_bytes <= kMostOwnBytes);
      return fit;
    };
    if (!fits()) end(open);
    const bool is_new = open.texts.insert(text).second;
    open.pointers = std::max(open.pointers, kernel.buffers.size());
    open.blocks.resize(plan.phases.size(), 0);
    open.own.resize(plan.phases.size(), 0);
    for (std::size_t p = 0; p < plan.phases.size(); ++p) {
      open.blocks[p] += plan.phases[p].grid;
      if (is_new) open.own[p] += plan.phases[p].own_bytes;
    }
    open.numbers.push_back(k);
  }
  for (auto& [threads, open] : all) end(open);
  return packs;
}

CudaPack::CudaPack(const std::vector<LaunchKernel>& kernels, std::vector<std::size_t> numbers,
                   const CudaLimits& limits)
    : numbers_(std::move(numbers)) {
  std::unordered_map<std::string, unsigned> texts;
  std::vector<const Kernel*> distinct;
  std::vector<CudaPlan> plans;  // of those
  for (std::size_t number : numbers_) {
    const Kernel& kernel = kernels[number].kernel;
    const auto [at, is_new] =
        texts.try_emplace(print(kernel), static_cast<unsigned>(distinct.size()));
    if (is_new) {
      distinct.push_back(&kernel);
      plans.push_back(cuda_plan(kernel, limits));
    }
    kernel_.push_back(at->second);
    pointers_ = std::max(pointers_, kernel.buffers.size());
    const CudaPlan& plan = plans[at->second];
    phases_.resize(plan.phases.size());
    for (std::size_t p = 0; p < phases_.size(); ++p) {
      phases_[p].first.push_back(phases_[p].grid);
      phases_[p].grid += static_cast<unsigned>(plan.phases[p].grid);
      phases_[p].threads = plan.phases[p].threads;
    }
  }
  text_ = emit_cuda_pack(distinct, numbers_.size(), pointers_, limits);
}

Verdict CudaPack::load(const std::shared_ptr<Context>& context, const std::string& object) {
  CudaPlan plan;
  for (std::size_t p = 0; p < phases_.size(); ++p)
    plan.phases.push_back({cuda_pack_name(p), phases_[p].grid, phases_[p].threads});
  HEDDLE_TRY(code_, CudaCode::load(context, object, plan));
  return yes();
}

Verdict CudaPack::launch(Handle stream, const std::vector<LaunchKernel>& kernels,
                         const DeviceAddress* slots) const {
  const std::size_t stride = 1 + pointers_, firsts = cuda_pack_firsts(numbers_.size()) / 2;
  std::vector<std::uint64_t> argument(firsts + numbers_.size() * stride);
  for (std::size_t e = 0; e < numbers_.size(); ++e) {
    const LaunchKernel& given = kernels[numbers_[e]];
    argument[firsts + e * stride] = kernel_[e];
    std::uint64_t* at = &argument[firsts + e * stride + 1];
    for (std::size_t b = 0; b < given.slots.size(); ++b)
      if (given.slots[b] != kNone) at[b] = (slots[given.slots[b]] + given.shift[b]).value;
  }
  for (std::size_t p = 0; p < phases_.size(); ++p) {
    std::memcpy(argument.data(), phases_[p].first.data(),
                phases_[p].first.size() * sizeof(unsigned));
    HEDDLE_TRY_VOID(code_->launch_phase(stream, p, argument.data()));
  }
  return yes();
}

}  // namespace heddle::cuda
