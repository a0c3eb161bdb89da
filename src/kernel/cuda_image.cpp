#include "kernel/cuda_image.h"

#include <algorithm>
#include <span>

namespace heddle {

namespace {

constexpr std::int64_t kSmallStage = 8 << 10;     // of a stage that every block may do for itself
constexpr std::int64_t kLeastImage = 64 << 10;    // bytes: smaller ones are in the caches anyway
constexpr std::int64_t kRoomForOthers = 2 << 10;  // of a block: gates, and what the system takes
constexpr int kMostSlices = 8, kImageThreads = 1024;

std::int64_t image_points(const Stage& stage) {
  return points_of(stage, std::vector<bool>(stage.loops.size(), true), true);
}

class ImageStudy {
 public:
  ImageStudy(const Kernel& kernel, const Phase& phase, const CudaLimits& limits)
      : kernel_(kernel), phase_(phase), limits_(limits) {}

  std::optional<CudaImage> made() {
    const bool is_plain =
        limits_.clusters && phase_.chunks == 0 && phase_.blocks() > 0 &&
        std::ranges::all_of(phase_.outer, [](const OuterLoop& loop) { return loop.block == 1; });
    if (!is_plain || !find_rows() || !look_at_all() || !find_input() || !share()) return {};
    return made_;
  }

 private:
  // ---- what is there

  // Of the largest stage.
  bool find_rows() {
    std::int64_t most = kSmallStage;
    for (const Stage& stage : phase_.stages) {
      if (image_points(stage) <= most || stage.loops.size() < 2) continue;
      most = image_points(stage);
      made_.columns = stage.loops.back().size;
      made_.rows = most / made_.columns;
    }
    return most > kSmallStage && most < INT32_MAX;
  }

  bool look_at_all() {
    written_.assign(kernel_.buffers.size(), false);
    for (const Stage& stage : phase_.stages)
      for (const Statement& statement : stage.statements)
        for (std::uint32_t b : statement.buffers)
          written_[b] = written_[b] || kernel_.buffers[b].reach != Reach::block;
    for (const Stage& stage : phase_.stages) {
      // What one block writes to memory, another may not have seen yet.
      for (const Node& node : stage.nodes)
        if (node.kind == NodeKind::load && written_[node.number]) return false;
      const auto kind = kind_of(stage);
      if (!kind) return false;
      made_.stages.push_back(*kind);
    }
    return true;
  }

  std::optional<CudaImageStage> kind_of(const Stage& stage) {
    // Memory is written by one block of a cluster, scratch by each.
    const auto is_scratch = [&](const Statement& s) {
      return kernel_.buffers[s.buffers[0]].reach == Reach::block;
    };
    if (image_points(stage) <= kSmallStage) {
      const auto scratch = std::ranges::count_if(stage.statements, is_scratch);
      if (scratch != 0 && scratch != std::ssize(stage.statements)) return {};
      return CudaImageStage::small;
    }
    if (stage.loops.size() < 2 || stage.loops.back().size != made_.columns ||
        image_points(stage) != made_.rows * made_.columns || stage.statements.empty())
      return {};
    vectors_ = std::max(vectors_, cuda_vectors(kernel_, phase_, stage).count);
    const auto places = cuda_places(phase_, stage);
    const auto is = [&](auto what) { return std::ranges::all_of(stage.statements, what); };
    if (is([&](const Statement& s) { return is_column_sum(s, places[s.index]); }))
      return CudaImageStage::sums;
    if (is([&](const Statement& s) { return is_store(stage, s, places[s.index]); }))
      return CudaImageStage::stores;
    return {};
  }

  bool is_column_sum(const Statement& s, const std::optional<CudaPlace>& place) const {
    if (s.kind != Statement::Kind::update || s.buffers.size() != 1 || s.guard != kNone || !place ||
        !s.any_order || s.combiner.op == ScalarOp::none)
      return false;
    const bool is_scratch = kernel_.buffers[s.buffers[0]].reach == Reach::block;
    const auto rows = std::span(place->tile).first(place->tile.size() - 1);
    return is_scratch && place->tile.back() == 1 && place->constant == 0 && place->chunk == 0 &&
           std::ranges::count(rows, 0) == std::ssize(rows) &&
           std::ranges::count(place->outer, 0) == std::ssize(place->outer);
  }

  // Each point has its own element.
  bool is_store(const Stage& stage, const Statement& s,
                const std::optional<CudaPlace>& place) const {
    if (s.kind != Statement::Kind::store || s.buffers.size() != 1 || !place ||
        kernel_.buffers[s.buffers[0]].reach == Reach::block)
      return false;
    return is_dense(stage, *place);
  }

  // All points lie together, in the order of the loops.
  static bool is_dense(const Stage& stage, const CudaPlace& place) {
    std::int64_t next = 1;
    for (std::size_t i = stage.loops.size(); i-- > 0; next *= stage.loops[i].size)
      if (stage.loops[i].size > 1 && place.tile[i] != next) return false;
    return place.chunk == 0;
  }

  // ---- what stays

  // The widest input of which several large stages read all points.
  bool find_input() {
    std::int64_t widest = 0;
    for (std::uint32_t b = 0; b < kernel_.buffers.size(); ++b) {
      if (kernel_.buffers[b].reach != Reach::input || bytes_of(b) <= widest) continue;
      std::optional<CudaPlace> base;
      int readers = 0;
      for (std::size_t s = 0; s < phase_.stages.size(); ++s)
        if (made_.stages[s] != CudaImageStage::small) readers += reads(phase_.stages[s], b, base);
      if (readers < 2 || !is_aligned(b, *base)) continue;
      widest = bytes_of(b);
      made_.input = b;
      made_.base = *base;
    }
    return widest > 0 && made_.rows * made_.columns * widest >= kLeastImage;
  }

  // 1 where a stage reads all points of the input from `base` on; sets it if it is the first.
  int reads(const Stage& stage, std::uint32_t buffer, std::optional<CudaPlace>& base) const {
    const auto places = cuda_places(phase_, stage);
    const auto live = live_nodes(stage);
    for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
      const Node& node = stage.nodes[i];
      if (!live[i] || node.kind != NodeKind::load || node.number != buffer) continue;
      if (node.in[1] != kNone || !places[node.in[0]]) continue;
      CudaPlace place = *places[node.in[0]];
      if (!is_dense(stage, place)) continue;
      place.tile.clear();
      if (base && !(*base == place)) continue;
      base = place;
      return 1;
    }
    return 0;
  }

  std::int64_t bytes_of(std::uint32_t buffer) const {
    return static_cast<std::int64_t>(byte_size(kernel_.buffers[buffer].dtype));
  }
  bool is_aligned(std::uint32_t buffer, const CudaPlace& base) const {
    const auto fits = [&](std::int64_t n) { return n * bytes_of(buffer) % kCudaAccess == 0; };
    return fits(base.constant) && std::ranges::all_of(base.outer, fits) && fits(made_.columns);
  }

  // ---- how it is shared

  bool share() {
    made_.vector = vectors_;
    if (made_.vector == 1 || made_.columns % made_.vector != 0 || made_.units() * 2 > kImageThreads)
      return false;
    // Two blocks to a multiprocessor, if a cluster has room enough; one loads while one computes.
    for (const std::int64_t room : {limits_.shared_bytes / 2, limits_.shared_bytes})
      for (made_.cluster = 1; made_.cluster <= limits_.most_cluster; made_.cluster *= 2)
        if (made_.rows % made_.cluster == 0 && fits(room)) {
          if (made_.at_once == 1 && made_.cluster > 1) share_in_passes();
          return true;
        }
    return false;
  }

  // ---- passes

  // Many blocks of whole rows, all of the same size.
  void share_in_passes() {
    constexpr std::int64_t kLeastPart = 64 << 10, kThreads = 320;
    const std::int64_t row_bytes = made_.columns * bytes_of(made_.input);
    CudaImage staying = made_;
    made_.squares_of = cuda_image_squares(kernel_, phase_, made_.stages);
    std::int64_t rows = made_.rows;
    while (rows % 2 == 0 && rows / 2 * row_bytes >= kLeastPart) rows /= 2;
    made_.parts = static_cast<int>(made_.rows / rows);
    std::int64_t abreast = std::max<std::int64_t>(kThreads / made_.units(), 1);
    while (rows % abreast != 0) --abreast;
    made_.threads =
        static_cast<int>((abreast * made_.units() + kCudaWarp - 1) / kCudaWarp) * kCudaWarp;
    const bool is_full = made_.abreast() == abreast && abreast * made_.units() * 2 > made_.threads;
    made_.cluster = 1;
    if (!is_full || !find_passes()) made_ = std::move(staying);
  }

  bool find_passes() {
    const std::size_t count = phase_.stages.size();
    const auto is_pass = [&](std::size_t s) {
      return made_.stages[s] == CudaImageStage::sums && made_.squares_of[s] == kNone;
    };
    const auto is_large = [&](std::size_t s) {
      return is_pass(s) || made_.stages[s] == CudaImageStage::stores;
    };
    std::size_t at = 0;
    while (at < count && !is_large(at)) ++at;
    while (at < count && is_pass(at)) {
      std::size_t end = at + 1;
      while (end < count && !is_large(end)) ++end;
      made_.passes.push_back({CudaImagePass::Kind::sums, at, end});
      made_.passes.push_back({CudaImagePass::Kind::finish, at, end});
      made_.partial_bytes = std::max(made_.partial_bytes, partial_bytes(at));
      at = end;
    }
    if (made_.passes.empty()) return false;
    // Sums behind what is stored would have to wait for it.
    for (std::size_t s = at; s < count; ++s)
      if (made_.stages[s] == CudaImageStage::sums) return false;
    if (at < count) made_.passes.push_back({CudaImagePass::Kind::stores, at, count});
    made_.saved_bytes = phase_.blocks() * ((kernel_.scratch_bytes + 127) / 128 * 128);
    return true;
  }

  std::int64_t partial_bytes(std::size_t stage) const {
    std::int64_t bytes = 0;
    for (const Statement& statement : phase_.stages[stage].statements)
      bytes += bytes_of(statement.buffers[0]);
    if (has_squares(made_, stage)) bytes += 2 * bytes_of_f32();
    return bytes * phase_.blocks() * made_.parts * made_.columns;
  }
  static std::int64_t bytes_of_f32() { return static_cast<std::int64_t>(sizeof(float)); }

  bool fits(std::int64_t room) {
    made_.slices = kMostSlices;
    while (made_.slices > 1 && made_.share() % made_.slices != 0) made_.slices /= 2;
    const bool is_whole = room == limits_.shared_bytes;
    find_threads(is_whole ? kImageThreads : kImageThreads / 2);
    made_.at_once = is_whole ? 1 : 2;
    const auto up = [](std::int64_t bytes) { return (bytes + 127) / 128 * 128; };
    made_.image_offset = up(kernel_.scratch_bytes);
    made_.room_offset =
        made_.image_offset + up(made_.share() * made_.columns * bytes_of(made_.input));
    made_.shared_bytes = made_.room_offset + room_bytes();
    made_.workers =
        std::max<std::int64_t>(limits_.multiprocessors * made_.at_once / made_.cluster, 1);
    return made_.units() <= made_.threads && made_.shared_bytes + declared_bytes() <= room;
  }

  // What threads that have the same columns put together: at least what one stage needs.
  std::int64_t room_bytes() const {
    std::int64_t most = 0;
    for (std::size_t s = 0; s < phase_.stages.size(); ++s)
      if (made_.stages[s] == CudaImageStage::sums)
        for (const Statement& statement : phase_.stages[s].statements)
          most = std::max(most, bytes_of(statement.buffers[0]));
    return most * made_.abreast() * made_.columns;
  }

  // What the text has beside that: see emit_cuda_image.cpp.
  std::int64_t declared_bytes() const {
    constexpr std::int64_t kWord = 8;
    std::int64_t sums = 0;
    for (std::size_t s = 0; s < phase_.stages.size(); ++s)
      if (made_.stages[s] == CudaImageStage::sums) sums += std::ssize(phase_.stages[s].statements);
    return kRoomForOthers +
           kWord * (made_.threads + (made_.cluster > 1 ? sums * made_.columns : 0));
  }

  // The fewest that need no more turns for a slice than as many as there can be.
  void find_threads(std::int64_t threads) {
    const std::int64_t most = std::max<std::int64_t>(threads / made_.units(), 1);
    const std::int64_t turns = (made_.slice() + most - 1) / most;
    const std::int64_t abreast = (made_.slice() + turns - 1) / turns;
    made_.threads =
        static_cast<int>((abreast * made_.units() + kCudaWarp - 1) / kCudaWarp) * kCudaWarp;
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const CudaLimits& limits_;
  CudaImage made_;
  std::vector<bool> written_;  // by buffer: memory that the phase writes
  int vectors_ = 1;
};

}  // namespace

bool has_squares(const CudaImage& image, std::size_t stage) {
  return std::ranges::find(image.squares_of, static_cast<std::uint32_t>(stage)) !=
         image.squares_of.end();
}

std::optional<CudaImage> cuda_image(const Kernel& kernel, const Phase& phase,
                                    const CudaLimits& limits) {
  return ImageStudy(kernel, phase, limits).made();
}

}  // namespace heddle
