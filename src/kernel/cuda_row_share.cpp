// How threads share rows: who has which points, what stays in registers and what flies.
#include <algorithm>
#include <bit>

#include "kernel/cuda_row_needs.h"

namespace heddle {

namespace {

constexpr int kMostThreads = 1024, kLarge = kMostThreads / 2;
// Registers of a thread for what it keeps, in words.
constexpr std::int64_t kEasyWords = 24, kShortWords = 36, kMostWords = 72, kMostWordsOfMany = 28,
                       kFlightWords = 32;
// Of many rows of one input that are loaded: fewer threads with more each wait less for each other
// (softmax of 16384x4096 on an H200: 0.067 ms by 128 threads, 0.075 by 256, 0.088 by 512). With
// several inputs enough is under way as it is (a norm of two: 0.137 by 256, 0.147 by 128).
constexpr std::int64_t kRowWords = 32;
// Of a multiprocessor.
constexpr std::int64_t kRegisters = 64 << 10, kMostResident = 2048;
// Of a block, beside what flies: sums that are put together, and what the system takes.
constexpr std::int64_t kBlockBytes = 4 << 10;
constexpr std::int64_t kMostSlots = 4, kSlotAlign = 128;
constexpr int kSpareRegisters = 32;

class Sharing {
 public:
  Sharing(const Kernel& kernel, const CudaLimits& limits, CudaResident& made)
      : needs_(kernel, made), kernel_(kernel), limits_(limits), made_(made) {}

  bool share() {
    needs_.find_vectors(limits_);
    made_.values = cuda_kept_values(kernel_, made_);
    rows_ = std::max<std::int64_t>(in_chunks() ? made_.phase.chunks : made_.phase.blocks(), 1);
    if (limits_.rows) {
      const CudaResident before = made_;
      if (share_as_asked(*limits_.rows)) return true;
      made_ = before;
    }
    if (share_flying()) return true;
    made_.flights.clear();
    made_.ahead.clear();
    made_.slots = 0;
    made_.workers = 0;
    if (share_as_they_come()) return true;
    return share_in_memory();
  }

 private:
  bool share_as_asked(const CudaRowWay& way) {
    if (way.flies && !needs_.find_flights(limits_)) return false;
    needs_.find_kept();
    if (way.flies) needs_.find_ahead();
    const std::int64_t bytes = needs_.bytes_kept();
    if (way.flies && in_chunks()) needs_.find_lasting();
    if (words(std::int64_t{way.threads} * way.cluster, bytes) > kMostWords) return false;
    return way.flies ? set_flying(way.threads, way.cluster, bytes)
                     : set(way.threads, way.cluster, bytes);
  }

  // With values that stay only where no more threads have to keep them.
  bool share_as_they_come() {
    needs_.find_kept();
    const bool fits = share_in_registers();
    if (made_.values.empty()) return fits;
    const CudaResident with_values = made_;
    made_.values.clear();
    made_.kept.clear();
    needs_.find_kept();
    const bool fits_without = share_in_registers();
    const auto threads = [](const CudaResident& r) { return r.group * r.cluster; };
    if (fits && (!fits_without || threads(with_values) <= threads(made_))) made_ = with_values;
    return fits || fits_without;
  }

  bool in_chunks() const { return made_.phase.chunks > 0; }

  // Room for the rows of one block, so many blocks to a multiprocessor; 0: there is too little.
  int slots_of(int at_once) {
    made_.slot_bytes = 0;
    for (CudaFlight& flight : made_.flights) {
      const std::int64_t unit = made_.vector * needs_.bytes_of(flight.buffer);
      const std::int64_t bytes = made_.part() * unit;
      const std::int64_t last = (made_.units - made_.part() * (made_.cluster - 1)) * unit;
      if (last <= 0 || bytes % kCudaCopied != 0 || last % kCudaCopied != 0) return 0;
      flight.offset = made_.slot_bytes;
      made_.slot_bytes += (bytes + kSlotAlign - 1) / kSlotAlign * kSlotAlign;
    }
    const std::int64_t room = limits_.shared_bytes / at_once - kBlockBytes;
    const std::int64_t slots = std::min(room / made_.slot_bytes, kMostSlots);
    return slots < 2 ? 0 : static_cast<int>(slots);
  }

  bool set_flying(int group, int cluster, std::int64_t bytes) {
    if (!set(group, cluster, bytes)) return false;
    // What is given out at a launch cannot depend on what the assembler says.
    int at_once = blocks_at_once(bytes, kSpareRegisters);
    while (at_once > 1 && slots_of(at_once) == 0) --at_once;
    made_.slots = slots_of(at_once);
    made_.at_once = std::min(made_.at_once, at_once);
    made_.workers = workers_of(at_once, cluster);
    return made_.slots > 0;
  }

  // At most: how many clusters there can be is known when the code is loaded.
  std::int64_t workers_of(std::int64_t at_once, int cluster) const {
    return std::max<std::int64_t>(limits_.multiprocessors * at_once / cluster, 1);
  }

  bool share_flying() {
    if (!needs_.find_flights(limits_)) return false;
    needs_.find_kept();
    needs_.find_ahead();
    const std::int64_t bytes = needs_.bytes_kept();
    if (made_.units > kCudaWarp * 4 && in_chunks()) {
      // Their threads have few points each, so that what lasts is little.
      const auto kept = made_.kept;
      needs_.find_lasting();
      if (share_flying_chunks(bytes)) return true;
      made_.kept = kept;
    }
    if (words(kLarge, bytes) > kEasyWords && share_flying_rows(bytes)) return true;
    made_.kept.clear();
    return false;
  }

  // Few blocks have all rows, so that others are not on their way by themselves.
  bool share_flying_chunks(std::int64_t bytes) {
    for (int group = 2 * kCudaWarp; group <= kLarge; group *= 2) {
      const bool few = rows_ * group < std::int64_t{limits_.multiprocessors} * kMostThreads;
      if (few && group < kLarge && made_.units > group) continue;
      if (words(group, bytes) <= kEasyWords && set_flying(group, 1, bytes)) return true;
    }
    return false;
  }

  // Rows that only few blocks of a multiprocessor can have at a time. Shorter ones are as fast
  // without: other blocks load while one waits (softmax of 16384x4096 on an H200: 0.088 ms so,
  // 0.089 to 0.108 flying; of 2048x32768 0.124 and 0.095).
  bool share_flying_rows(std::int64_t bytes) {
    for (const auto& [group, cluster] :
         {std::pair(kLarge, 1), std::pair(kMostThreads, 1), std::pair(kLarge, 2),
          std::pair(kLarge, 4), std::pair(kLarge, 8)})
      if (words(std::int64_t{group} * cluster, bytes) <= kFlightWords &&
          set_flying(group, cluster, bytes))
        return true;
    return false;
  }

  // ---- how threads share a row

  std::int64_t words(std::int64_t threads, std::int64_t bytes) const {
    return (made_.units + threads - 1) / threads * made_.vector * bytes / 4;
  }

  int blocks_at_once(std::int64_t bytes, int spare) const {
    const std::int64_t registers = words(std::int64_t{made_.group} * made_.cluster, bytes) + spare;
    const std::int64_t room = std::min(kRegisters / registers, kMostResident);
    return static_cast<int>(std::max<std::int64_t>(room / made_.threads, 1));
  }

  bool set(int group, int cluster, std::int64_t bytes) {
    made_.group = group;
    made_.cluster = cluster;
    made_.threads = group <= kCudaWarp && made_.phase.chunks == 0 ? kCudaThreads : group;
    made_.at_once = blocks_at_once(bytes, limits_.spare_registers);
    return segments_fit();
  }

  // A segment lies in neighbouring threads of a warp, which put together what they have.
  bool segments_fit() const {
    const auto fits = [&](std::size_t depth) {
      const std::int64_t units = made_.segment(depth);
      return units <= kCudaWarp && std::has_single_bit(static_cast<std::uint64_t>(units)) &&
             made_.group % units == 0 && (made_.cluster == 1 || made_.part() % units == 0);
    };
    return std::ranges::all_of(made_.phase.stages, [&](const Stage& stage) {
      return std::ranges::all_of(segment_depths(stage), fits);
    });
  }
  // Of the stage itself, and of what it has of segments.
  std::vector<std::size_t> segment_depths(const Stage& stage) const {
    std::vector<std::size_t> depths;
    if (has_segments(made_, stage)) depths.push_back(tile_loops(stage).size());
    const auto places = cuda_places(made_, stage);
    for (const Statement& statement : stage.statements)
      if (made_.homes[statement.buffers[0]] == CudaHome::segment)
        depths.push_back(places[statement.index]->depth());
    return depths;
  }

  // The smallest group whose threads can keep their points; few rows have many threads each.
  bool share_in_registers() {
    const std::int64_t bytes = needs_.bytes_kept();
    const auto needed = std::bit_ceil(static_cast<std::uint64_t>(made_.units));
    if (in_chunks() && needed <= kCudaThreads && words(kCudaThreads, bytes) <= kEasyWords)
      return set(std::max(kCudaWarp, static_cast<int>(needed)), 1, bytes);
    const bool is_short = made_.units <= kCudaWarp * 4 && words(kCudaWarp, bytes) <= kShortWords;
    const bool fills = rows_ * kCudaWarp >= std::int64_t{limits_.multiprocessors} * kCudaThreads;
    if (is_short && !in_chunks() && (fills || made_.units <= kCudaWarp))
      return set(static_cast<int>(std::min<std::uint64_t>(needed, kCudaWarp)), 1, bytes);
    for (int group = 2 * kCudaWarp; group <= kLarge; group *= 2) {
      const bool may_have_more =
          !in_chunks() && group >= 4 * kCudaWarp && needs_.rows_loaded() == 1;
      if (words(group, bytes) > (may_have_more ? kRowWords : kEasyWords)) continue;
      const bool few = rows_ * group < std::int64_t{limits_.multiprocessors} * kLarge;
      if (few && group < kLarge && made_.units > group) continue;
      return set(group, 1, bytes);
    }
    // More threads than units would keep no less each, and have nothing to do.
    if (needed <= kLarge && words(static_cast<std::int64_t>(needed), bytes) <= kMostWords)
      return set(std::max(kCudaWarp, static_cast<int>(needed)), 1, bytes);
    if (limits_.clusters)
      for (const auto& [group, cluster] : {std::pair(kLarge, 2), std::pair(kLarge, 4),
                                           std::pair(kLarge, 8), std::pair(kMostThreads, 8)})
        if (words(std::int64_t{group} * cluster, bytes) <= kEasyWords)
          return set(group, cluster, bytes);
    if (words(kMostThreads, bytes) <= kMostWordsOfMany) return set(kMostThreads, 1, bytes);
    if (words(kLarge, bytes) <= kMostWords) return set(kLarge, 1, bytes);
    return false;
  }

  bool share_in_memory() {
    made_.kept.clear();
    made_.in_registers = false;
    if (std::ranges::find(made_.homes, CudaHome::segment) != made_.homes.end()) return false;
    if (std::ranges::any_of(made_.phase.stages,
                            [&](const Stage& stage) { return has_segments(made_, stage); }))
      return false;
    if (words(kMostThreads, needs_.bytes_held()) > kMostWordsOfMany) return false;
    return set(kMostThreads, 1, needs_.bytes_held());
  }

  RowNeeds needs_;
  const Kernel& kernel_;
  const CudaLimits& limits_;
  CudaResident& made_;
  std::int64_t rows_ = 1;  // or chunks of them
};

}  // namespace

bool share_rows(const Kernel& kernel, const CudaLimits& limits, CudaResident& resident) {
  return Sharing(kernel, limits, resident).share();
}

}  // namespace heddle
