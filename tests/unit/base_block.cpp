#include <gtest/gtest.h>

#include <cstring>
#include <new>

#include "heddle/block.h"

namespace heddle {
namespace {

bool is_aligned(const Block& block) {
  return reinterpret_cast<std::uintptr_t>(block.data()) % Block::kAlignment == 0;
}

TEST(Block, SizesAndAlignment) {
  for (std::size_t size : {0UL, 1UL, 63UL, 64UL, 100'000UL, 5UL << 20}) {
    const auto block = Block::raw(size);
    EXPECT_EQ(block->size(), size);
    EXPECT_TRUE(is_aligned(*block));
    std::memset(block->data(), 1, size);
  }
}

TEST(Block, ZeroedIsZeroEvenWhenReused) {
  constexpr std::size_t kSize = 1 << 20;
  {
    const auto dirty = Block::raw(kSize);
    std::memset(dirty->data(), 0x5a, kSize);
  }
  const auto clean = Block::zeroed(kSize);
  for (std::size_t i = 0; i < kSize; i += 997) EXPECT_EQ(clean->data()[i], std::byte{0});
}

TEST(Block, BigBlocksComeBackWarm) {
  set_block_pool_limit(0);
  set_block_pool_limit(std::size_t{64} << 20);
  constexpr std::size_t kSize = std::size_t{8} << 20;
  const std::byte* where = nullptr;
  {
    const auto block = Block::raw(kSize);
    where = block->data();
  }
  EXPECT_EQ(block_pool_stats().blocks, 1U);
  const auto again = Block::raw(kSize - 100);
  EXPECT_EQ(again->data(), where);
  EXPECT_EQ(block_pool_stats().blocks, 0U);
  // One that would waste much is left alone.
  {
    const auto other = Block::raw(2 * kSize);
  }
  const auto small = Block::raw(kSize);
  EXPECT_EQ(block_pool_stats().blocks, 1U);
}

TEST(Block, ThePoolIsBounded) {
  set_block_pool_limit(0);
  {
    const auto block = Block::raw(std::size_t{8} << 20);
  }
  EXPECT_EQ(block_pool_stats().bytes, 0U);
  set_block_pool_limit(std::size_t{20} << 20);
  {
    const auto a = Block::raw(std::size_t{8} << 20), b = Block::raw(std::size_t{8} << 20),
               c = Block::raw(std::size_t{8} << 20);
  }
  EXPECT_EQ(block_pool_stats().blocks, 2U);
  set_block_pool_limit(std::size_t{10} << 20);
  EXPECT_EQ(block_pool_stats().blocks, 1U);
}

TEST(Block, TooMuchIsBadAlloc) {
  EXPECT_THROW((void)Block::raw(SIZE_MAX - 5), std::bad_alloc);
  EXPECT_THROW((void)Block::raw(std::size_t{1} << 60), std::bad_alloc);
}

TEST(Block, ViewsAreSomebodyElses) {
  const std::byte bytes[3] = {};
  const auto view = Block::view(bytes, 3);
  EXPECT_TRUE(view->is_view());
  EXPECT_EQ(view->data(), bytes);
}

}  // namespace
}  // namespace heddle
