// Block: the bytes behind an array. Big ones come from a pool that keeps their pages: memory that
// is new to the process costs more to touch than most kernels take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace heddle {

class Block {
 public:
  // Every kind throws std::bad_alloc where there is no memory; all but views are aligned to
  // kAlignment.
  static std::shared_ptr<Block> zeroed(std::size_t size);
  // With whatever is in it.
  static std::shared_ptr<Block> raw(std::size_t size);
  static std::shared_ptr<Block> copy_of(std::span<const std::byte> bytes);
  // Somebody else's bytes, which live longer than the block; nobody writes through it.
  static std::shared_ptr<Block> view(const std::byte* data, std::size_t size);

  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool is_view() const { return is_view_; }

  static constexpr std::size_t kAlignment = 64;

 private:
  Block() = default;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;  // of memory of our own, to give back
  bool is_view_ = false;
};

// What the pool of big blocks holds back from the system.
struct BlockPoolStats {
  std::size_t blocks = 0, bytes = 0;
};
BlockPoolStats block_pool_stats();
// At most so many bytes wait in the pool; 0 gives all of them back.
void set_block_pool_limit(std::size_t bytes);

}  // namespace heddle
