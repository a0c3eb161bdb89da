#include "kernel/cuda_row_needs.h"

#include <algorithm>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

void RowNeeds::find_vectors(const CudaLimits& limits) {
  std::int64_t points = 1;
  for (std::int64_t size : made_.tile) points *= size;
  int most = 1;
  for (const Stage& stage : made_.phase.stages)
    if (has_points(made_, stage) && tile_loops(stage).back() + 1 == stage.loops.size())
      most = std::max(most, cuda_vectors(kernel_, made_.phase, stage).count);
  for (const Stage& stage : made_.phase.stages) {
    if (!has_points(made_, stage)) continue;
    if (tile_loops(stage).back() + 1 != stage.loops.size()) most = 1;
  }
  while (most > 1 && waits_for_itself(limits, points / most)) most /= 2;
  made_.vector = most;
  made_.units = points / most;
}

// A chain of sums over few rows takes as long as its instructions follow one another: twice the
// threads take half of it (64 norms over 256 rows of 512 on an H200: 0.042 ms by accesses of 16
// bytes, 0.030 by 8, 0.035 by 4).
bool RowNeeds::waits_for_itself(const CudaLimits& limits, std::int64_t threads) const {
  constexpr std::ptrdiff_t kManySums = 8;
  constexpr std::int64_t kEnough = 256, kMostOfRow = 512;  // threads: of a multiprocessor, of a row
  const std::int64_t rows = made_.phase.chunks > 0 ? made_.phase.chunks : made_.phase.blocks();
  const auto sums = std::ranges::count_if(made_.phase.stages, [](const Stage& stage) {
    return std::ranges::any_of(stage.statements, [](const Statement& statement) {
      return statement.kind == Statement::Kind::update;
    });
  });
  return sums >= kManySums && 2 * threads <= kMostOfRow &&
         rows * threads < limits.multiprocessors * kEnough;
}

// ---- what is loaded

// Every load of points of inputs, by stage, that later ones might find again.
template <typename Each>
void RowNeeds::each_load(Each each) const {
  for (std::size_t s = 0; s < made_.phase.stages.size(); ++s) {
    const Stage& stage = made_.phase.stages[s];
    if (!has_points(made_, stage)) continue;
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

void RowNeeds::find_kept() {
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

void RowNeeds::find_lasting() {
  const auto lasts = [](const CudaPlace& place) {
    return place.chunk == 0 && std::ranges::all_of(place.outer, [](auto f) { return f == 0; });
  };
  for (CudaKeptLoad& load : made_.kept) load.lasts = lasts(load.place);
  each_load([&](std::size_t, std::uint32_t buffer, const CudaPlace& place) {
    const auto is_it = [&](const CudaKeptLoad& k) {
      return k.buffer == buffer && k.place == place;
    };
    if (lasts(place) && std::ranges::none_of(made_.kept, is_it))
      made_.kept.push_back({buffer, place, true});
  });
}

void RowNeeds::find_ahead() {
  made_.ahead.clear();
  for (std::size_t s = 0; s < made_.phase.stages.size(); ++s) {
    const Stage& stage = made_.phase.stages[s];
    const auto places = cuda_places(made_, stage);
    const auto live = live_nodes(stage, known_nodes(made_, s));
    for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
      const Node& node = stage.nodes[i];
      if (!live[i] || node.kind != NodeKind::load || node.in[1] != kNone ||
          kernel_.buffers[node.number].reach != Reach::input)
        continue;
      const auto& place = places[node.in[0]];
      if (!place || !place->is_same_for_all_points()) continue;
      const auto is_it = [&](const CudaKeptLoad& load) {
        return load.buffer == node.number && load.place == *place;
      };
      if (std::ranges::none_of(made_.ahead, is_it)) made_.ahead.push_back({node.number, *place});
    }
  }
}

std::size_t RowNeeds::rows_loaded() const {
  std::vector<std::pair<std::uint32_t, CudaPlace>> rows;
  each_load([&](std::size_t, std::uint32_t buffer, const CudaPlace& place) {
    const bool is_of_row = std::ranges::any_of(place.outer, [](auto f) { return f != 0; });
    const auto is_it = [&](const auto& row) { return row.first == buffer && row.second == place; };
    if (is_of_row && std::ranges::none_of(rows, is_it)) rows.emplace_back(buffer, place);
  });
  return rows.size();
}

// ---- what flies

bool RowNeeds::flies(std::uint32_t buffer, const CudaPlace& place) const {
  return std::ranges::any_of(made_.flights, [&](const CudaFlight& flight) {
    return flight.buffer == buffer && flight.place == place;
  });
}

// A row that lies together, where copies may begin and end; other rows have others.
bool RowNeeds::may_fly(std::uint32_t buffer, const CudaPlace& place) const {
  const std::int64_t bytes = bytes_of(buffer);
  std::int64_t next = 1;
  for (std::size_t i = made_.tile.size(); i-- > 0; next *= made_.tile[i])
    if (place.tile[i] != next) return false;
  const auto fits = [&](std::int64_t elements) { return elements * bytes % kCudaCopied == 0; };
  return std::ranges::any_of(place.outer, [](auto f) { return f != 0; }) &&
         std::ranges::all_of(place.outer, fits) && fits(place.chunk) && fits(place.constant);
}

bool RowNeeds::find_flights(const CudaLimits& limits) {
  if (!limits.clusters || made_.vector == 1) return false;
  each_load([&](std::size_t, std::uint32_t buffer, const CudaPlace& place) {
    if (!flies(buffer, place) && may_fly(buffer, place)) made_.flights.push_back({buffer, place});
  });
  return !made_.flights.empty();
}

struct RowNeeds::Life {
  std::size_t first = SIZE_MAX, last = 0;
  std::int64_t bytes = 0;
  void add(std::size_t stage) {
    first = std::min(first, stage);
    last = std::max(last, stage);
  }
};

// Of all that is kept of a point, from stage to stage.
std::vector<RowNeeds::Life> RowNeeds::lives() const {
  const std::size_t kept = made_.kept.size();
  std::vector<Life> lives(kept + made_.homes.size());
  for (std::size_t k = 0; k < kept; ++k)
    if (!made_.kept[k].lasts) lives[k].bytes = bytes_of(made_.kept[k].buffer);
  for (std::size_t b = 0; b < made_.homes.size(); ++b)
    if (made_.homes[b] == CudaHome::column)
      lives[kept + b].bytes = std::max<std::int64_t>(bytes_of(b), 4);
    else if (made_.homes[b] == CudaHome::segment)  // one for all points of a unit, and its sum
      lives[kept + b].bytes = 2 * (std::max<std::int64_t>(bytes_of(b), 4) - 1) / made_.vector + 2;
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
std::int64_t RowNeeds::bytes_kept() const {
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
std::int64_t RowNeeds::bytes_held() const {
  std::int64_t bytes = 0;
  for (std::size_t b = 0; b < made_.homes.size(); ++b)
    if (made_.homes[b] == CudaHome::chunk_column) bytes += std::max<std::int64_t>(bytes_of(b), 4);
  return bytes;
}

}  // namespace heddle
