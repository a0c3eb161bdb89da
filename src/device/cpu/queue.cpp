#include "device/cpu/queue.h"

#include <cstring>

#include "cost/sharing.h"
#include "device/cpu/launch.h"
#include "device/cpu/library.h"
#include "device/cpu/loop.h"

namespace heddle::cpu {

namespace {

constexpr std::int64_t kApart = 256;  // bytes between the scratch of two workers, at least

std::int64_t stride_of(std::int64_t scratch_bytes) {
  constexpr auto kLine = static_cast<std::int64_t>(Block::kAlignment);
  return (scratch_bytes + kLine - 1) / kLine * kLine + kApart;
}

}  // namespace

CpuQueue::CpuQueue(Device& device) : device_(device), pool_(&ThreadPool::shared()) {}

CpuLaunch::Memory CpuQueue::memory_for(const CpuLaunch& launch, const DeviceAddress* slots) {
  const std::int64_t stride = stride_of(launch.scratch_bytes());
  const auto scratch = static_cast<std::size_t>(stride * pool_->threads());
  if (!scratch_ || scratch_->size() < scratch) scratch_ = Block::raw(scratch);
  if (pointers_.size() < launch.pointers()) pointers_.resize(launch.pointers());
  return {slots, pointers_.data(), scratch_->data(), stride};
}

Verdict CpuQueue::launch(const Launch& launch, const DeviceAddress* slots) {
  const auto& mine = static_cast<const CpuLaunch&>(launch);
  return mine.run(memory_for(mine, slots), *pool_);
}

Verdict CpuQueue::launch_blocks(const Launch& launch, const DeviceAddress* slots,
                                std::int64_t first, std::int64_t end) {
  const auto& mine = static_cast<const CpuLaunch&>(launch);
  return mine.run_blocks(memory_for(mine, slots), *pool_, first, end);
}

Expected<TurnsDone> CpuQueue::turns(const LoopLaunch& loop, const DeviceAddress* slots,
                                    std::int64_t most) {
  const auto& mine = static_cast<const CpuLoop&>(loop);
  const auto scratch = static_cast<std::size_t>(stride_of(mine.scratch_bytes()));
  if (!scratch_ || scratch_->size() < scratch) scratch_ = Block::raw(scratch);
  if (pointers_.size() < mine.pointers()) pointers_.resize(mine.pointers());
  return mine.run(slots, pointers_.data(), scratch_->data(), most);
}

Verdict CpuQueue::call(const heddle::LibraryCall& call, const CallMemory& memory) {
  operands_.clear();
  for (DeviceAddress a : memory.operands) operands_.push_back(host_pointer(a));
  for (DeviceAddress a : memory.results) operands_.push_back(host_pointer(a));
  const std::span<std::byte* const> all(operands_);
  return static_cast<const LibraryCall&>(call).run({all.first(memory.operands.size()),
                                                    all.subspan(memory.operands.size()),
                                                    host_pointer(memory.workspace), *pool_});
}

Verdict CpuQueue::copy(DeviceAddress from, DeviceAddress to, std::int64_t bytes) {
  const std::byte* source = host_pointer(from);
  std::byte* target = host_pointer(to);
  if (bytes <= cost::kSharedCopy) {
    if (bytes > 0) std::memcpy(target, source, static_cast<std::size_t>(bytes));
    return yes();
  }
  pool_->parallel_for((bytes + cost::kCopyPart - 1) / cost::kCopyPart, [&](std::int64_t part, int) {
    const std::int64_t at = part * cost::kCopyPart;
    std::memcpy(target + at, source + at,
                static_cast<std::size_t>(std::min(cost::kCopyPart, bytes - at)));
  });
  return yes();
}

Verdict CpuQueue::write(std::span<const std::byte> from, DeviceAddress to,
                        std::shared_ptr<const void>) {
  return copy(address_of(from.data()), to, static_cast<std::int64_t>(from.size()));
}

Verdict CpuQueue::read(DeviceAddress from, std::span<std::byte> to) {
  return copy(from, address_of(to.data()), static_cast<std::int64_t>(to.size()));
}

Verdict CpuQueue::zero(DeviceAddress at, std::int64_t bytes) {
  if (bytes > 0) std::memset(host_pointer(at), 0, static_cast<std::size_t>(bytes));
  return yes();
}

}  // namespace heddle::cpu
