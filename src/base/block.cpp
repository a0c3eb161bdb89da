#include "heddle/block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace heddle {

namespace {

// From here on pages are worth keeping.
constexpr std::size_t kBig = std::size_t{1} << 18;
constexpr std::size_t kHuge = std::size_t{4} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded(std::size_t size, std::size_t to) { return (size + to - 1) / to * to; }

// An eighth of the machine's memory, and at least enough for programs that run again and again.
std::size_t default_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  const std::size_t eighth =
      pages > 0 && page > 0 ? static_cast<std::size_t>(pages) / 8 * static_cast<std::size_t>(page)
                            : 0;
  return std::max(eighth, std::size_t{1} << 30);
}

// Big blocks that nobody uses, by size.
class BlockPool {
 public:
  // One that wastes less than an eighth, or null.
  std::byte* take(std::size_t size, std::size_t& room) {
    const std::lock_guard lock(mutex_);
    const auto found = free_.lower_bound(size);
    if (found == free_.end() || found->first > size + size / 8) return nullptr;
    std::byte* data = found->second;
    room = found->first;
    bytes_ -= room;
    free_.erase(found);
    return data;
  }

  bool give(std::byte* data, std::size_t room) {
    const std::lock_guard lock(mutex_);
    if (bytes_ + room > limit_) return false;
    free_.emplace(room, data);
    bytes_ += room;
    return true;
  }

  void set_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
    shrink_to(bytes);
  }

  void empty() {
    const std::lock_guard lock(mutex_);
    shrink_to(0);
  }

  BlockPoolStats stats() {
    const std::lock_guard lock(mutex_);
    return {free_.size(), bytes_};
  }

  // Lives until the process ends: arrays of static duration may come back late.
  static BlockPool& get() {
    static auto* pool = new BlockPool;  // NOLINT: on purpose never deleted
    return *pool;
  }

 private:
  void shrink_to(std::size_t bytes) {
    while (bytes_ > bytes) {
      const auto largest = std::prev(free_.end());
      bytes_ -= largest->first;
      std::free(largest->second);
      free_.erase(largest);
    }
  }

  std::mutex mutex_;
  std::multimap<std::size_t, std::byte*> free_;
  std::size_t bytes_ = 0;
  std::size_t limit_ = default_limit();
};

std::byte* allocate(std::size_t room) {
  const std::size_t alignment = room >= kHuge ? kHugePage : Block::kAlignment;
  void* data = std::aligned_alloc(alignment, room);
  if (data == nullptr) {
    BlockPool::get().empty();
    data = std::aligned_alloc(alignment, room);
  }
  if (data == nullptr) throw std::bad_alloc();
  // A hint: where it is refused the pages are small ones.
  if (room >= kHuge) (void)::madvise(data, room, MADV_HUGEPAGE);
  return static_cast<std::byte*>(data);
}

// More than any machine has; asking the system for it may end the process.
constexpr std::size_t kMost = std::size_t{1} << 40;

std::size_t room_for(std::size_t size) {
  if (size >= kMost) throw std::bad_alloc();
  return size >= kHuge ? rounded(size, kHugePage)
                       : rounded(std::max(size, Block::kAlignment), Block::kAlignment);
}

}  // namespace

std::shared_ptr<Block> Block::raw(std::size_t size) {
  auto block = std::shared_ptr<Block>(new Block);
  block->size_ = size;
  std::size_t room = room_for(size);
  block->data_ = room >= kBig ? BlockPool::get().take(room, room) : nullptr;
  if (block->data_ == nullptr) block->data_ = allocate(room);
  block->room_ = room;
  return block;
}

std::shared_ptr<Block> Block::zeroed(std::size_t size) {
  auto block = raw(size);
  std::memset(block->data_, 0, size);
  return block;
}

std::shared_ptr<Block> Block::copy_of(std::span<const std::byte> bytes) {
  auto block = raw(bytes.size());
  if (!bytes.empty()) std::memcpy(block->data_, bytes.data(), bytes.size());
  return block;
}

std::shared_ptr<Block> Block::view(const std::byte* data, std::size_t size) {
  auto block = std::shared_ptr<Block>(new Block);
  block->data_ = const_cast<std::byte*>(data);  // is_view_ keeps writers away
  block->size_ = size;
  block->is_view_ = true;
  return block;
}

Block::~Block() {
  if (room_ == 0) return;
  if (room_ < kBig || !BlockPool::get().give(data_, room_)) std::free(data_);
}

BlockPoolStats block_pool_stats() { return BlockPool::get().stats(); }
void set_block_pool_limit(std::size_t bytes) { BlockPool::get().set_limit(bytes); }

}  // namespace heddle
