#include "runtime/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace heddle::runtime {

namespace {

// Above this the search for gaps, which is quadratic, gives way to the free list alone.
constexpr std::size_t kMostForGaps = 2000;

std::int64_t rounded(std::int64_t bytes) {
  return (std::max<std::int64_t>(bytes, 1) + kBufferAlignment - 1) / kBufferAlignment *
         kBufferAlignment;
}

bool meet(const PlannedBuffer& a, const PlannedBuffer& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::vector<std::size_t> ordered(const std::vector<PlannedBuffer>& buffers, auto before) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return before(buffers[a], buffers[b]); });
  return order;
}

// Largest first, each into the tightest gap between those that it meets.
std::int64_t by_size(std::vector<PlannedBuffer>& buffers) {
  std::vector<std::size_t> placed;  // by offset
  std::int64_t end = 0;
  const auto order =
      ordered(buffers, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  for (std::size_t i : order) {
    const std::int64_t wanted = rounded(buffers[i].bytes);
    std::int64_t at = 0, best = -1, best_gap = INT64_MAX;
    for (std::size_t j : placed) {
      if (!meet(buffers[i], buffers[j])) continue;
      const std::int64_t gap = buffers[j].offset - at;
      if (gap >= wanted && gap < best_gap) best = at, best_gap = gap;
      at = std::max(at, buffers[j].offset + rounded(buffers[j].bytes));
    }
    buffers[i].offset = best >= 0 ? best : at;
    end = std::max(end, buffers[i].offset + wanted);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](std::size_t a, std::size_t b) {
                                     return buffers[a].offset < buffers[b].offset;
                                   }),
                  i);
  }
  return end;
}

// The free bytes of an arena that grows, in pieces that do not touch.
class FreeList {
 public:
  std::int64_t take(std::int64_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found == by_size_.end()) return grow(bytes);
    const auto [size, offset] = *found;
    remove(offset, size);
    if (size > bytes) add(offset + bytes, size - bytes);
    return offset;
  }

  void give(std::int64_t offset, std::int64_t bytes) {
    const auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && after->first == offset + bytes) {
      const auto [next, size] = *after;
      bytes += size;
      remove(next, size);
    }
    const auto before = by_offset_.lower_bound(offset);
    if (before != by_offset_.begin()) {
      const auto [start, size] = *std::prev(before);
      if (start + size == offset) {
        remove(start, size);
        offset = start;
        bytes += size;
      }
    }
    add(offset, bytes);
  }

  std::int64_t end() const { return end_; }

 private:
  std::int64_t grow(std::int64_t bytes) {
    std::int64_t offset = end_;
    if (!by_offset_.empty()) {
      const auto [start, size] = *std::prev(by_offset_.end());
      if (start + size == end_) {
        remove(start, size);
        offset = start;
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void add(std::int64_t offset, std::int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void remove(std::int64_t offset, std::int64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<std::int64_t, std::int64_t> by_offset_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
  std::int64_t end_ = 0;
};

// In the order of time, each into the tightest free piece.
std::int64_t by_time(std::vector<PlannedBuffer>& buffers) {
  FreeList free;
  const auto begins =
      ordered(buffers, [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto ends = ordered(buffers, [](const auto& a, const auto& b) { return a.last < b.last; });
  auto done = ends.begin();
  for (std::size_t i : begins) {
    for (; done != ends.end() && buffers[*done].last < buffers[i].first; ++done)
      free.give(buffers[*done].offset, rounded(buffers[*done].bytes));
    buffers[i].offset = free.take(rounded(buffers[i].bytes));
  }
  return free.end();
}

}  // namespace

std::int64_t plan_memory(std::vector<PlannedBuffer>& buffers) {
  const std::int64_t in_time = by_time(buffers);
  if (buffers.size() > kMostForGaps || in_time == least_memory(buffers)) return in_time;
  std::vector<PlannedBuffer> other = buffers;
  const std::int64_t in_size = by_size(other);
  if (in_size >= in_time) return in_time;
  buffers = std::move(other);
  return in_size;
}

MemoryPeak memory_peak(const std::vector<PlannedBuffer>& buffers) {
  std::map<std::int64_t, std::int64_t> change;
  for (const PlannedBuffer& b : buffers) {
    change[b.first] += rounded(b.bytes);
    change[b.last + 1] -= rounded(b.bytes);
  }
  MemoryPeak peak;
  std::int64_t now = 0;
  for (const auto& [step, delta] : change) {
    now += delta;
    if (now > peak.bytes) peak.bytes = now, peak.step = step;
  }
  for (std::size_t i : ordered(buffers, [](auto& a, auto& b) { return a.bytes > b.bytes; }))
    if (buffers[i].first <= peak.step && peak.step <= buffers[i].last) peak.buffers.push_back(i);
  return peak;
}

std::int64_t least_memory(const std::vector<PlannedBuffer>& buffers) {
  return memory_peak(buffers).bytes;
}

}  // namespace heddle::runtime
