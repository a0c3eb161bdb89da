// Rows that wait often, as chains of norms do: what a stage loads is asked for one wait before.
#include <algorithm>
#include <cstdlib>

#include "kernel/cuda_resident.h"
#include "kernel/emit_cuda_stage.h"

namespace heddle {

namespace {

constexpr std::size_t kOften = 4;  // waits of a row, from which on loads are most of its time
constexpr std::int64_t kAheadBytes = 64;  // of a thread, for what is on its way

bool has_sum(const CudaResident& resident, const Stage& stage) {
  if (tile_loops(stage).empty()) return false;
  const auto places = cuda_places(resident, stage);
  return std::ranges::any_of(stage.statements, [&](const Statement& s) {
    return s.kind == Statement::Kind::update && places[s.index] &&
           places[s.index]->is_same_for_all_points();
  });
}

}  // namespace

void ask_ahead(const Kernel& kernel, CudaResident& resident) {
  const auto& stages = resident.phase.stages;
  if (std::getenv("HEDDLE_X_NOAHEAD")) return;
  if (resident.vector == 1 || !resident.in_registers || resident.slots > 0) return;
  std::vector<bool> waits;
  for (const Stage& stage : stages) waits.push_back(has_sum(resident, stage));
  if (static_cast<std::size_t>(std::ranges::count(waits, true)) < kOften) return;
  std::size_t before = kNone;  // the stage with the last wait
  std::int64_t room = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const Stage& stage = stages[s];
    if (!tile_loops(stage).empty() && before != kNone) {
      const auto places = cuda_places(resident, stage);
      const auto live = live_nodes(stage, known_nodes(resident, s));
      const auto vectors = cuda_vectors(kernel, resident.phase, stage, resident.vector);
      for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
        const Node& node = stage.nodes[i];
        if (!live[i] || node.kind != NodeKind::load || node.in[1] != kNone || !vectors.loads[i])
          continue;
        const KernelBuffer& buffer = kernel.buffers[node.number];
        const auto& place = places[node.in[0]];
        if (buffer.reach != Reach::input || !place || place->is_same_for_all_points()) continue;
        const bool is_known = std::ranges::any_of(resident.kept, [&](const CudaKeptLoad& k) {
          return k.buffer == node.number && k.place == *place;
        });
        const std::int64_t bytes =
            resident.turns() * resident.vector * static_cast<std::int64_t>(byte_size(buffer.dtype));
        if (is_known || bytes > room) continue;
        room -= bytes;
        resident.kept.push_back({.buffer = node.number, .place = *place, .asked = before});
      }
    }
    if (!waits[s]) continue;
    before = s;
    room = kAheadBytes;
  }
}

}  // namespace heddle
