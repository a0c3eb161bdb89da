// No two buffers that are alive at the same time share a byte.
#include <gtest/gtest.h>

#include "choices.h"
#include "runtime/memory_plan.h"

namespace heddle::runtime {
namespace {

std::vector<PlannedBuffer> any_buffers(int most) {
  std::vector<PlannedBuffer> buffers;
  const int count = *rc::gen::inRange(0, most);
  for (int i = 0; i < count; ++i) {
    const auto first = *rc::gen::inRange<std::int64_t>(0, 40);
    buffers.push_back({*rc::gen::inRange<std::int64_t>(0, 1000), first,
                       first + *rc::gen::inRange<std::int64_t>(0, 12)});
  }
  return buffers;
}

void check(std::vector<PlannedBuffer> buffers) {
  const std::int64_t size = plan_memory(buffers);
  RC_ASSERT(size >= least_memory(buffers));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const PlannedBuffer& a = buffers[i];
    RC_ASSERT(a.offset >= 0 && a.offset % kBufferAlignment == 0 && a.offset + a.bytes <= size);
    for (std::size_t j = 0; j < i; ++j) {
      const PlannedBuffer& b = buffers[j];
      const bool meet = a.first <= b.last && b.first <= a.last;
      const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
      RC_ASSERT(!meet || apart);
    }
  }
}

HEDDLE_PROPERTY(MemoryPlan, LiveBuffersAreApart) { check(any_buffers(60)); }

// So many that the faster of the two ways is taken.
TEST(MemoryPlan, ManyBuffersAreApart) {
  std::vector<PlannedBuffer> buffers;
  std::uint64_t state = 1;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  for (int i = 0; i < 2500; ++i) {
    const std::int64_t first = next(3000);
    buffers.push_back({next(5000), first, first + next(20)});
  }
  check(buffers);
}

}  // namespace
}  // namespace heddle::runtime
