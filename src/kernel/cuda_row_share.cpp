// How threads share rows: who has which points, what stays in registers and what flies.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernel/cuda_resident.h"
#include "kernel/emit_cuda_stage.h"

namespace heddle {

namespace {

constexpr int kMostThreads = 1024, kLarge = kMostThreads / 2;
// Registers of a thread for what it keeps, in words.
constexpr std::int64_t kEasyWords = 24, kShortWords = 36, kMostWords = 72, kMostWordsOfMany = 28,
                       kFlightWords = 32;
// Of a multiprocessor.
constexpr std::int64_t kRegisters = 64 << 10, kMostResident = 2048;
// Of a block, beside what flies: sums that are put together, and what the system takes.
constexpr std::int64_t kBlockBytes = 4 << 10;
constexpr std::int64_t kCopied = 16;  // bytes: what flies begins and ends at multiples
constexpr std::int64_t kMostSlots = 4, kSlotAlign = 128;
constexpr int kSpareRegisters = 32;

class Sharing {
 public:
  Sharing(const Kernel& kernel, const CudaLimits& limits, CudaResident& made)
      : kernel_(kernel), limits_(limits), made_(made) {}

  bool share() {
    find_vectors();
    made_.values = cuda_kept_values(kernel_, made_);
    rows_ = std::max<std::int64_t>(in_chunks() ? made_.phase.chunks : made_.phase.blocks(), 1);
    if (share_flying()) return true;
    made_.flights.clear();
    made_.slots = 0;
    made_.workers = 0;
    if (share_as_they_come()) return true;
    return share_in_memory();
  }

 private:
  // With values that stay only where no more threads have to keep them.
  bool share_as_they_come() {
    find_kept();
    const bool fits = share_in_registers();
    if (made_.values.empty()) return fits;
    const CudaResident with_values = made_;
    made_.values.clear();
    made_.kept.clear();
    find_kept();
    const bool fits_without = share_in_registers();
    const auto threads = [](const CudaResident& r) { return r.group * r.cluster; };
    if (fits && (!fits_without || threads(with_values) <= threads(made_))) made_ = with_values;
    return fits || fits_without;
  }

  bool in_chunks() const { return made_.phase.chunks > 0; }

  void find_vectors() {
    std::int64_t points = 1;
    for (std::int64_t size : made_.tile) points *= size;
    int most = 1;
    for (const Stage& stage : made_.phase.stages)
      if (!tile_loops(stage).empty() && tile_loops(stage).back() + 1 == stage.loops.size())
        most = std::max(most, cuda_vectors(kernel_, made_.phase, stage).count);
    for (const Stage& stage : made_.phase.stages) {
      if (tile_loops(stage).empty()) continue;
      if (tile_loops(stage).back() + 1 != stage.loops.size()) most = 1;
    }
    while (most > 1 && waits_for_itself(points / most)) most /= 2;
    made_.vector = most;
    made_.units = points / most;
  }

  // A chain of sums over few rows takes as long as its instructions follow one another: twice the
  // threads take half of it (64 norms over 256 rows of 512 on an H200: 0.042 ms by accesses of 16
  // bytes, 0.030 by 8).
  bool waits_for_itself(std::int64_t threads) const {
    constexpr std::ptrdiff_t kManySums = 8;
    const std::int64_t kEnough = std::getenv("HEDDLE_X_ENOUGH") ? std::atoi(std::getenv("HEDDLE_X_ENOUGH")) : 512;  // threads of a multiprocessor
    const std::int64_t rows = in_chunks() ? made_.phase.chunks : made_.phase.blocks();
    const auto sums = std::ranges::count_if(made_.phase.stages, [](const Stage& stage) {
      return std::ranges::any_of(stage.statements, [](const Statement& statement) {
        return statement.kind == Statement::Kind::update;
      });
    });
    return sums >= kManySums && 2 * threads <= kLarge &&
           rows * threads < limits_.multiprocessors * kEnough;
  }

  // ---- what is loaded

  // Every load of points of inputs, by stage, that later ones might find again.
  template <typename Each>
  void each_load(Each each) const {
    for (std::size_t s = 0; s < made_.phase.stages.size(); ++s) {
      const Stage& stage = made_.phase.stages[s];
      if (tile_loops(stage).empty()) continue;
      const auto places = cuda_places(made_, stage);
      const auto live = live_nodes(stage, known_nodes(made_, s));
      const auto vectors = cuda_vectors(kernel_, made_.phase, stage, made_.vector);
      for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
        const Node& node = stage.nodes[i];
        if (!live[i] || node.kind != NodeKind::load || node.in[1] != kNone) continue;
        if (made_.vector > 1 && !vectors.loads[i]) continue;
        if (kernel_.buffers[node.number].reach != Reach::input) continue;
        const auto& place = places[node.in[0]];
        if (place && !place->is_same_for_all_points()) each(s, node.number, *place);
      }
    }
  }

  void find_kept() {
    std::vector<std::pair<CudaKeptLoad, std::size_t>> seen;  // and the first stage that has it
    each_load([&](std::size_t s, std::uint32_t buffer, const CudaPlace& place) {
      const auto is_it = [&](const CudaKeptLoad& k) {
        return k.buffer == buffer && k.place == place;
      };
      if (std::ranges::any_of(made_.kept, is_it) || flies(buffer, place)) return;
      const auto at = std::ranges::find_if(seen, [&](const auto& s) { return is_it(s.first); });
      if (at == seen.end())
        seen.emplace_back(CudaKeptLoad{buffer, place}, s);
      else if (at->second != s)
        made_.kept.push_back({buffer, place});
    });
  }

  // ---- what flies

  bool flies(std::uint32_t buffer, const CudaPlace& place) const {
    return std::ranges::any_of(made_.flights, [&](const CudaFlight& flight) {
      return flight.buffer == buffer && flight.place == place;
    });
  }

  // A row that lies together, where copies may begin and end; other rows have others.
  bool may_fly(std::uint32_t buffer, const CudaPlace& place) const {
    const std::int64_t bytes = bytes_of(buffer);
    std::int64_t next = 1;
    for (std::size_t i = made_.tile.size(); i-- > 0; next *= made_.tile[i])
      if (place.tile[i] != next) return false;
    const auto fits = [&](std::int64_t elements) { return elements * bytes % kCopied == 0; };
    return std::ranges::any_of(place.outer, [](auto f) { return f != 0; }) &&
           std::ranges::all_of(place.outer, fits) && fits(place.chunk) && fits(place.constant);
  }

  bool find_flights() {
    if (!limits_.clusters || made_.vector == 1) return false;
    each_load([&](std::size_t, std::uint32_t buffer, const CudaPlace& place) {
      if (!flies(buffer, place) && may_fly(buffer, place)) made_.flights.push_back({buffer, place});
    });
    return !made_.flights.empty();
  }

  // Room for the rows of one block, so many blocks to a multiprocessor; 0: there is too little.
  int slots_of(int at_once) {
    made_.slot_bytes = 0;
    for (CudaFlight& flight : made_.flights) {
      const std::int64_t unit = made_.vector * bytes_of(flight.buffer);
      const std::int64_t bytes = made_.part() * unit;
      const std::int64_t last = (made_.units - made_.part() * (made_.cluster - 1)) * unit;
      if (last <= 0 || bytes % kCopied != 0 || last % kCopied != 0) return 0;
      flight.offset = made_.slot_bytes;
      made_.slot_bytes += (bytes + kSlotAlign - 1) / kSlotAlign * kSlotAlign;
    }
    const std::int64_t room = limits_.shared_bytes / at_once - kBlockBytes;
    const std::int64_t slots = std::min(room / made_.slot_bytes, kMostSlots);
    return slots < 2 ? 0 : static_cast<int>(slots);
  }

  bool set_flying(int group, int cluster, std::int64_t bytes) {
    set(group, cluster, bytes);
    // What is given out at a launch cannot depend on what the assembler says.
    int at_once = blocks_at_once(bytes, kSpareRegisters);
    while (at_once > 1 && slots_of(at_once) == 0) --at_once;
    made_.slots = slots_of(at_once);
    made_.at_once = std::min(made_.at_once, at_once);
    made_.workers = workers_of(at_once, cluster);
    return made_.slots > 0;
  }

  // A cluster lies in one part of the device, of 16 multiprocessors or a few more: one that finds
  // no room would have all its rows when the others are done.
  std::int64_t workers_of(std::int64_t at_once, int cluster) const {
    constexpr std::int64_t kPart = 16;
    std::int64_t there = limits_.multiprocessors;
    if (cluster > 2 && there > kPart) there -= there % kPart;
    return std::max<std::int64_t>(there * at_once / cluster, 1);
  }

  bool share_flying() {
    if (!find_flights()) return false;
    find_kept();
    const std::int64_t bytes = bytes_kept();
    if (made_.units > kCudaWarp * 4 && in_chunks() && share_flying_chunks(bytes)) return true;
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

  // ---- how many registers that takes

  std::int64_t bytes_of(std::size_t buffer) const {
    return static_cast<std::int64_t>(byte_size(kernel_.buffers[buffer].dtype));
  }

  struct Life {
    std::size_t first = SIZE_MAX, last = 0;
    std::int64_t bytes = 0;
    void add(std::size_t stage) {
      first = std::min(first, stage);
      last = std::max(last, stage);
    }
  };

  // Of all that is kept of a point, from stage to stage.
  std::vector<Life> lives() const {
    const std::size_t kept = made_.kept.size();
    std::vector<Life> lives(kept + made_.homes.size());
    for (std::size_t k = 0; k < kept; ++k) lives[k].bytes = bytes_of(made_.kept[k].buffer);
    for (std::size_t b = 0; b < made_.homes.size(); ++b)
      if (made_.homes[b] == CudaHome::column)
        lives[kept + b].bytes = std::max<std::int64_t>(bytes_of(b), 4);
    for (std::size_t s = 0; s < made_.phase.stages.size(); ++s) {
      const Stage& stage = made_.phase.stages[s];
      const auto places = cuda_places(made_, stage);
      const auto live = live_nodes(stage, known_nodes(made_, s));
      for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
        const Node& node = stage.nodes[i];
        if (!live[i] || node.kind != NodeKind::load) continue;
        lives[kept + node.number].add(s);
        for (std::size_t k = 0; k < kept; ++k)
          if (made_.kept[k].buffer == node.number && places[node.in[0]] == made_.kept[k].place)
            lives[k].add(s);
      }
      for (const Statement& statement : stage.statements) lives[kept + statement.buffers[0]].add(s);
    }
    for (const CudaKeptValue& value : made_.values) {
      Life& life = lives.emplace_back();
      life.bytes = std::max<std::int64_t>(static_cast<std::int64_t>(byte_size(value.type)), 4);
      for (std::size_t s = 0; s < value.nodes.size(); ++s)
        if (value.nodes[s] != kNone) life.add(s);
    }
    return lives;
  }

  // Of one point: the most between two stages, and what a chunk holds all the time.
  std::int64_t bytes_kept() const {
    const auto all = lives();
    std::int64_t most = 0;
    for (std::size_t s = 0; s + 1 < made_.phase.stages.size(); ++s) {
      std::int64_t bytes = 0;
      for (const Life& life : all)
        if (life.first <= s && life.last > s) bytes += life.bytes;
      most = std::max(most, bytes);
    }
    return most + bytes_held();
  }
  std::int64_t bytes_held() const {
    std::int64_t bytes = 0;
    for (std::size_t b = 0; b < made_.homes.size(); ++b)
      if (made_.homes[b] == CudaHome::chunk_column) bytes += std::max<std::int64_t>(bytes_of(b), 4);
    return bytes;
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
    return true;
  }

  // The smallest group whose threads can keep their points; few rows have many threads each.
  bool share_in_registers() {
    const std::int64_t bytes = bytes_kept();
    const auto needed = std::bit_ceil(static_cast<std::uint64_t>(made_.units));
    if (in_chunks() && needed <= kCudaThreads && words(kCudaThreads, bytes) <= kEasyWords)
      return set(std::max(kCudaWarp, static_cast<int>(needed)), 1, bytes);
    const bool is_short = made_.units <= kCudaWarp * 4 && words(kCudaWarp, bytes) <= kShortWords;
    const bool fills = rows_ * kCudaWarp >= std::int64_t{limits_.multiprocessors} * kCudaThreads;
    if (is_short && !in_chunks() && (fills || made_.units <= kCudaWarp))
      return set(static_cast<int>(std::min<std::uint64_t>(needed, kCudaWarp)), 1, bytes);
    for (int group = 2 * kCudaWarp; group <= kLarge; group *= 2) {
      if (words(group, bytes) > kEasyWords) continue;
      const bool few = rows_ * group < std::int64_t{limits_.multiprocessors} * kLarge;
      if (few && group < kLarge && made_.units > group) continue;
      return set(group, 1, bytes);
    }
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
    if (words(kMostThreads, bytes_held()) > kMostWordsOfMany) return false;
    return set(kMostThreads, 1, bytes_held());
  }

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
