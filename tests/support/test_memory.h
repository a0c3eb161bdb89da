// Private memory behind handles. A handle is a number that is no address of the process; sums of a
// handle and an offset are handles of the same piece.
#pragma once

#include <map>
#include <mutex>

#include "heddle/block.h"
#include "heddle/queue.h"

namespace heddle::test {

class Memory {
 public:
  DeviceAddress add(std::int64_t bytes) {
    auto block = Block::raw(static_cast<std::size_t>(bytes));
    // What nobody has written is easy to see.
    std::fill_n(block->data(), block->size(), std::byte{0xa5});
    const std::lock_guard lock(mutex_);
    const std::uintptr_t handle = next_;
    next_ += (static_cast<std::uintptr_t>(bytes) + 2 * kApart - 1) / kApart * kApart;
    pieces_.emplace(handle, std::move(block));
    return {handle};
  }

  void remove(DeviceAddress handle) {
    const std::lock_guard lock(mutex_);
    pieces_.erase(handle.value);
  }

  // Where so many bytes lie; null where there are none.
  Expected<std::byte*> find(DeviceAddress at, std::int64_t bytes) const {
    if (at.value == 0 && bytes == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    auto piece = pieces_.upper_bound(at.value);
    if (piece == pieces_.begin())
      return reason(
          "{:#x} is no handle of the device: it is an address of the host, or its memory "
          "is gone",
          at.value);
    --piece;
    const std::uintptr_t offset = at.value - piece->first;
    if (offset + static_cast<std::uintptr_t>(bytes) > piece->second->size())
      return reason("handle {:#x}: {} bytes do not lie in memory that is held", at.value, bytes);
    return piece->second->data() + offset;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return pieces_.size();
  }

 private:
  // No address of a program has this bit, on any machine that we know.
  static constexpr std::uintptr_t kFirst = std::uintptr_t{1} << 50;
  static constexpr std::uintptr_t kApart = 4096;

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Block>> pieces_;
  std::uintptr_t next_ = kFirst;
};

}  // namespace heddle::test
