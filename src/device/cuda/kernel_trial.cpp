#include "device/cuda/kernel_trial.h"

#include <cstdlib>
#include <string_view>

namespace heddle::cuda {

namespace {

constexpr std::int64_t kLeastMoved = 16 << 20, kMostMoved = 8LL << 30;
constexpr double kLeastShare = 0.05;  // other ways differ by a few percent, and take seconds
constexpr int kTimes = 8;
constexpr std::size_t kMostNodes = 1000;  // others take seconds to compile, each way of them
// All types have a small number of these, none is infinite or no number.
constexpr unsigned char kFilled = 0x3c;

std::int64_t bytes_of(const KernelBuffer& buffer) {
  return buffer.reach == Reach::block ? 0 : buffer.elements * byte_size(buffer.dtype);
}

}  // namespace

bool may_time(const Kernel& kernel, double share) {
  if (share < kLeastShare) return false;
  const char* word = std::getenv("HEDDLE_TIME_MAPPINGS");
  if (word != nullptr && std::string_view(word) == "0") return false;
  std::int64_t moved = 0;
  for (const KernelBuffer& buffer : kernel.buffers) moved += bytes_of(buffer);
  std::size_t nodes = 0;
  for (const Phase& phase : kernel.phases)
    for (const Stage& stage : phase.stages) nodes += stage.nodes.size();
  if (nodes > kMostNodes) return false;
  return moved >= kLeastMoved && moved <= kMostMoved;
}

Verdict KernelTrial::take(Handle stream) {
  const Driver& driver = context_.driver();
  for (const KernelBuffer& buffer : kernel_.buffers) {
    Pointer at = 0;
    if (const std::int64_t bytes = bytes_of(buffer); bytes > 0) {
      HEDDLE_TRY(at, memory_.take(bytes));
      HEDDLE_TRY_VOID(driver.checked(
          driver.fill(at, kFilled, static_cast<std::size_t>(bytes), stream), "fill memory"));
    }
    buffers_.push_back(reinterpret_cast<void*>(at));
  }
  return yes();
}

Verdict KernelTrial::run(Handle stream, const CudaCode& code) {
  if (buffers_.empty()) HEDDLE_TRY_VOID(take(stream));
  if (code.scratch_bytes() > 0) return reason("it needs memory beside its buffers");
  for (int time = 0; time < kTimes; ++time)
    HEDDLE_TRY_VOID(code.launch(stream, buffers_.data(), 0));
  return yes();
}

}  // namespace heddle::cuda
