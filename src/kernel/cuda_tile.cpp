#include "kernel/cuda_tile.h"

#include <algorithm>
#include <bit>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostTurned = 64;       // registers of a thread for what it turns
constexpr std::int64_t kTileBytes = 72 << 10;  // of a block, so that three of them have one
constexpr std::int64_t kLeastRow = 64;         // bytes, that memory still reads well

std::int64_t bytes_of(const Kernel& kernel, std::uint32_t buffer) {
  return static_cast<std::int64_t>(byte_size(kernel.buffers[buffer].dtype));
}

bool is_plain_input(const Kernel& kernel, const Node& node) {
  return node.kind == NodeKind::load && node.in[1] == kNone &&
         kernel.buffers[node.number].reach == Reach::input;
}

// ---- turning

// Whether loads of `width` neighbours along a loop begin at multiples of their bytes.
bool is_aligned(const Phase& phase, const CudaPlace& place, std::size_t loop, std::int64_t width) {
  for (std::size_t i = 0; i < place.tile.size(); ++i)
    if (i != loop && place.tile[i] % width != 0) return false;
  for (std::size_t o = 0; o < place.outer.size(); ++o)
    if (place.outer[o] * phase.outer[o].block % width != 0) return false;
  return place.chunk % width == 0 && place.constant % width == 0;
}

// Blocks of the loop have multiples of `width` positions, the last one too.
bool divides(const Phase& phase, const StageLoop& loop, std::int64_t width) {
  if (loop.size % width != 0) return false;
  return loop.block_of < 0 ||
         phase.outer[static_cast<std::size_t>(loop.block_of)].extent % width == 0;
}

// The loop along which a load lies, where that is not the last.
std::optional<std::size_t> turned_loop(const CudaPlace& place) {
  if (std::abs(place.tile.back()) <= 1) return {};
  const auto at = std::ranges::find(place.tile, 1);
  if (at == place.tile.end()) return {};
  return static_cast<std::size_t>(at - place.tile.begin());
}

}  // namespace

std::optional<CudaTurn> cuda_turn(const Kernel& kernel, const Phase& phase, const Stage& stage,
                                  const CudaVectors& vectors) {
  if (vectors.count <= 1 || std::ranges::count(vectors.stores, true) == 0) return {};
  const auto places = cuda_places(phase, stage);
  const auto live = live_nodes(stage);
  CudaTurn turn{.loads = std::vector<bool>(stage.nodes.size(), false)};
  std::int64_t registers = 0;
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    const Node& node = stage.nodes[i];
    if (!live[i] || !is_plain_input(kernel, node) || !places[node.in[0]]) continue;
    const CudaPlace& place = *places[node.in[0]];
    const auto loop = turned_loop(place);
    if (!loop || (turn.width > 1 && *loop != turn.loop)) continue;
    const std::int64_t bytes = bytes_of(kernel, node.number);
    const std::int64_t width = turn.width > 1 ? turn.width : kCudaAccess / bytes;
    registers += width * vectors.count * bytes / 4;
    if (width <= 1 || !divides(phase, stage.loops[*loop], width) ||
        !is_aligned(phase, place, *loop, width) || registers > kMostTurned)
      continue;
    turn.loop = *loop;
    turn.width = static_cast<int>(width);
    turn.loads[i] = true;
  }
  if (turn.width <= 1) return {};
  return turn;
}

// ---- tiles that stay

namespace {

struct Box {
  std::int64_t width = 0, stride = 0, rows = 0;
  friend bool operator==(const Box&, const Box&) = default;
};

// What all points of a stage reach: rows of neighbours that lie apart by one stride.
std::optional<Box> box_of(const Phase& phase, const Stage& stage, const CudaPlace& place) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // factor and size
  for (std::size_t i = 0; i < stage.loops.size(); ++i) {
    const StageLoop& loop = stage.loops[i];
    if (loop.block_of >= 0) {
      const OuterLoop& outer = phase.outer[static_cast<std::size_t>(loop.block_of)];
      if (outer.extent % outer.block != 0) return {};
    }
    if (loop.size == 1 || place.tile[i] == 0) continue;
    if (place.tile[i] < 0) return {};
    steps.emplace_back(place.tile[i], loop.size);
  }
  std::ranges::sort(steps);
  std::vector<std::pair<std::int64_t, std::int64_t>> joined;
  for (const auto& step : steps) {
    if (!joined.empty() && step.first == joined.back().first * joined.back().second)
      joined.back().second *= step.second;
    else
      joined.push_back(step);
  }
  if (joined.size() != 2 || joined[0].first != 1 || joined[1].first < joined[0].second) return {};
  return Box{joined[0].second, joined[1].first, joined[1].second};
}

// What the stages of a phase do with one input.
struct Uses {
  std::optional<Box> box;
  CudaPlace base;
  int stages = 0;
  bool fits = true, turned = false;
};

void look_at(const Kernel& kernel, const Phase& phase, const Stage& stage,
             std::vector<Uses>& uses) {
  const auto places = cuda_places(phase, stage);
  const auto live = live_nodes(stage);
  const CudaMapping mapping = cuda_mapping(kernel, phase, stage, kCudaThreads);
  std::vector<bool> counted(uses.size(), false);
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    const Node& node = stage.nodes[i];
    if (!live[i] || node.kind != NodeKind::load) continue;
    Uses& use = uses[node.number];
    use.turned = use.turned || (mapping.turn && mapping.turn->loads[i]);
    use.stages += counted[node.number] ? 0 : 1;
    counted[node.number] = true;
    if (!is_plain_input(kernel, node) || !places[node.in[0]]) {
      use.fits = false;
      continue;
    }
    CudaPlace base = *places[node.in[0]];
    const auto box = box_of(phase, stage, base);
    base.tile.clear();
    use.fits = use.fits && box && (!use.box || (*use.box == *box && use.base == base));
    use.box = box;
    use.base = base;
  }
}

std::vector<CudaStaged> wanted_tiles(const Kernel& kernel, const Phase& phase) {
  std::vector<CudaStaged> tiles;
  if (phase.chunks > 0) return tiles;
  std::vector<Uses> uses(kernel.buffers.size());
  for (const Stage& stage : phase.stages) look_at(kernel, phase, stage, uses);
  for (std::uint32_t b = 0; b < uses.size(); ++b) {
    const Uses& use = uses[b];
    if (!use.fits || !use.turned || use.stages < 2) continue;
    const std::int64_t bytes = bytes_of(kernel, b), row = use.box->width * bytes;
    bool aligned =
        use.box->stride * bytes % kCudaAccess == 0 && use.base.constant * bytes % kCudaAccess == 0;
    for (std::size_t o = 0; o < phase.outer.size(); ++o)
      aligned = aligned && use.base.outer[o] * phase.outer[o].block * bytes % kCudaAccess == 0;
    if (!aligned || row < kCudaAccess || !std::has_single_bit(static_cast<std::uint64_t>(row)) ||
        use.box->rows * row % (8 * kCudaAccess) != 0)
      continue;
    tiles.push_back({b, use.base, use.box->rows, use.box->stride, use.box->width, row});
  }
  return tiles;
}

}  // namespace

std::vector<CudaStaged> cuda_staged(const Kernel& kernel, const Phase& phase, std::int64_t offset,
                                    const CudaLimits& limits) {
  std::vector<CudaStaged> tiles;
  for (CudaStaged& tile : wanted_tiles(kernel, phase)) {
    tile.offset = (offset + 127) / 128 * 128;
    if (tile.row_bytes > 8 * kCudaAccess || tile.offset + tile.bytes() > limits.shared_bytes)
      continue;
    offset = tile.offset + tile.bytes();
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

bool wants_smaller_tile(const Kernel& kernel, const Phase& phase) {
  std::int64_t bytes = 0;
  bool is_wide = false;
  for (const CudaStaged& tile : wanted_tiles(kernel, phase)) {
    bytes += tile.bytes();
    is_wide = is_wide || tile.row_bytes > kLeastRow;
  }
  return is_wide && bytes > kTileBytes;
}

}  // namespace heddle
