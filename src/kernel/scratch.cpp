#include "kernel/scratch.h"

#include <algorithm>

namespace heddle {

namespace {

constexpr std::int64_t kLine = 64;

std::int64_t size_of(const KernelBuffer& b) {
  return (b.elements * byte_size(b.dtype) + kLine - 1) / kLine * kLine;
}

// First and last stage that touches a buffer, counted over the whole kernel.
struct Life {
  std::uint32_t buffer = 0;
  int first = -1, last = -1;
  void touch(int stage) {
    if (first < 0) first = stage;
    last = stage;
  }
};

std::vector<Life> lives(const Kernel& kernel) {
  std::vector<Life> all(kernel.buffers.size());
  for (std::size_t b = 0; b < all.size(); ++b) all[b].buffer = static_cast<std::uint32_t>(b);
  int number = 0;
  for (const Phase& phase : kernel.phases)
    for (const auto* stages : {&phase.begin, &phase.stages})
      for (const Stage& stage : *stages) {
        for (const Node& n : stage.nodes)
          if (n.kind == NodeKind::load) all[n.number].touch(number);
        for (const Statement& s : stage.statements)
          for (std::uint32_t b : s.buffers) all[b].touch(number);
        ++number;
      }
  return all;
}

}  // namespace

void place_scratch(Kernel& kernel) {
  kernel.scratch_bytes = kernel.temporary_bytes = 0;
  std::vector<Life> all = lives(kernel);
  std::erase_if(all, [&](const Life& l) { return kernel.buffers[l.buffer].reach != Reach::block; });
  // The largest first, each at the lowest place that is free while it lives.
  std::stable_sort(all.begin(), all.end(), [&](const Life& a, const Life& b) {
    return size_of(kernel.buffers[a.buffer]) > size_of(kernel.buffers[b.buffer]);
  });
  std::vector<Life> placed;
  for (const Life& life : all) {
    KernelBuffer& b = kernel.buffers[life.buffer];
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const Life& other : placed)
      if (other.first <= life.last && life.first <= other.last) {
        const KernelBuffer& o = kernel.buffers[other.buffer];
        taken.emplace_back(o.offset, o.offset + size_of(o));
      }
    std::sort(taken.begin(), taken.end());
    b.offset = 0;
    for (auto [from, to] : taken)
      if (from < b.offset + size_of(b) && b.offset < to) b.offset = to;
    kernel.scratch_bytes = std::max(kernel.scratch_bytes, b.offset + size_of(b));
    placed.push_back(life);
  }
  for (KernelBuffer& b : kernel.buffers)
    if (b.reach == Reach::phases) {
      b.offset = kernel.temporary_bytes;
      kernel.temporary_bytes += size_of(b);
    }
}

}  // namespace heddle
