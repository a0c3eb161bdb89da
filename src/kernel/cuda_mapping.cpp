// How threads share a stage, and the blocks of a cluster a phase.
#include <algorithm>
#include <bit>
#include <span>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

namespace {

constexpr std::size_t kFewNodes = 96;  // that several points of a thread may have at the same time
constexpr std::int64_t kMostExchanged = 512;  // numbers, between the blocks of a cluster
constexpr int kAtOnce = 4;
constexpr std::int64_t kFewOthers = 16;  // that are done before threads would have met for a sum
constexpr std::int64_t kManyPoints = 16 << 10;  // of a stage, that are worth several blocks

int power_up_to(std::int64_t most) {
  return static_cast<int>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(most, 1))));
}
int power_from(std::int64_t least) {
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(least, 1))));
}

bool only_stores(const Stage& stage) {
  return std::ranges::all_of(stage.statements, [](const Statement& statement) {
    return statement.kind == Statement::Kind::store;
  });
}

// One sum that runs along the last loop, alone in its block, whose element stays the same.
bool is_running_sum(const Kernel& kernel, const Stage& stage) {
  if (stage.statements.size() != 1 || stage.loops.empty()) return false;
  const Statement& statement = stage.statements[0];
  if (statement.kind != Statement::Kind::scan || statement.values.size() != 1 ||
      statement.guard != kNone || statement.combiner.op == ScalarOp::none)
    return false;
  for (std::size_t i = 0; i + 1 < stage.loops.size(); ++i)
    if (stage.loops[i].size != 1) return false;
  const bool is_bool = kernel.buffers[statement.buffers[0]].dtype == DType::i1;
  return !is_bool && stage.loops.back().block_of < 0 && has_one_element(stage, statement);
}

// Whether all that the stage does is to sum up its last loop, which threads of a group deal out.
bool can_have_tail(const Stage& stage, const CudaMapping& mapping) {
  return stage.loops.back().block_of < 0 && !mapping.shared.back() &&
         std::ranges::count(mapping.shared, false) == 1 &&
         std::ranges::count(mapping.accumulated, false) == 0;
}

// As if the last loop ended where accesses do.
CudaVectors vectors_with_tail(const Kernel& kernel, const Phase& phase, const Stage& stage) {
  Stage even = stage;
  even.loops.back().size -= even.loops.back().size % kCudaAccess;
  if (even.loops.back().size == 0) return {};
  CudaVectors vectors = cuda_vectors(kernel, phase, even);
  vectors.tail = stage.loops.back().size % vectors.count;
  return vectors;
}

using Digit = Round::Digit;

// Turns of a thread that are under way at the same time.
int at_once(std::int64_t turns) {
  return static_cast<int>(std::clamp<std::int64_t>(power_up_to(turns), 1, kAtOnce));
}

int vector_along(const CudaMapping& mapping, bool points) {
  const bool is_along_points = !mapping.shared.empty() && mapping.shared.back();
  return is_along_points == points ? mapping.vectors.count : 1;
}

// Each thread has points by itself.
Round round_of_points(const CudaMapping& mapping, int threads, int several) {
  return Round({{{RoundAxis::reg, several},
                 {RoundAxis::thread, threads},
                 {RoundAxis::vec, vector_along(mapping, true)}},
                {{RoundAxis::vec, vector_along(mapping, false)}}});
}

// So many points `abreast` have a group of threads each. Neighbouring threads have neighbours in
// memory: of the points, or of the other loops.
Round round_of_groups(const CudaMapping& mapping, int abreast, int group) {
  const bool by_points = mapping.shared.back();
  return Round({{{RoundAxis::thread, abreast, by_points ? 1 : group},
                 {RoundAxis::vec, vector_along(mapping, true)}},
                {{RoundAxis::thread, group, by_points ? abreast : 1},
                 {RoundAxis::vec, vector_along(mapping, false)}}});
}

// A warp has neighbouring accesses, `several` to each of its threads.
Round round_of_scan(int threads, int several, int vector) {
  return Round({{},
                {{RoundAxis::thread, threads / kCudaWarp, kCudaWarp},
                 {RoundAxis::reg, several},
                 {RoundAxis::thread, kCudaWarp},
                 {RoundAxis::vec, vector}}});
}

}  // namespace

std::int64_t points_of(const Stage& stage, const std::vector<bool>& chosen, bool which) {
  std::int64_t points = 1;
  for (std::size_t i = 0; i < stage.loops.size(); ++i)
    if (chosen[i] == which && __builtin_mul_overflow(points, stage.loops[i].size, &points))
      return INT64_MAX;
  return points;
}

CudaMapping cuda_mapping(const Kernel& kernel, const Phase& phase, const Stage& stage,
                         int threads) {
  CudaMapping mapping;
  mapping.shared = shared_loops(stage);
  mapping.accumulated.assign(stage.statements.size(), false);
  if (is_running_sum(kernel, stage)) {
    mapping.is_scan = true;
    if (stage.nodes.size() <= kFewNodes) mapping.vectors = cuda_vectors(kernel, phase, stage);
    const std::int64_t turns = stage.loops.back().size / mapping.vectors.count / threads;
    mapping.round = round_of_scan(threads, at_once(turns), mapping.vectors.count);
    return mapping;
  }
  mapping.round = round_of_points(mapping, threads, 1);
  std::int64_t points = points_of(stage, mapping.shared, true);
  std::int64_t others = points_of(stage, mapping.shared, false);
  if (others == 1) {
    if (!only_stores(stage) || stage.nodes.size() > kFewNodes) return mapping;
    mapping.vectors = cuda_vectors(kernel, phase, stage);
    mapping.turn = cuda_turn(kernel, phase, stage, mapping.vectors);
    const int several = mapping.vectors.count > 1 ? 1 : at_once(points / threads);
    mapping.round = round_of_points(mapping, threads, several);
    return mapping;
  }
  const auto accumulated = accumulated_updates(stage, mapping.shared);
  if (!accumulated) return mapping;
  mapping.accumulated = *accumulated;
  if (stage.nodes.size() <= kFewNodes) {
    mapping.vectors = cuda_vectors(kernel, phase, stage);
    if (mapping.vectors.count == 1 && can_have_tail(stage, mapping))
      mapping.vectors = vectors_with_tail(kernel, phase, stage);
  }
  (mapping.shared.back() ? points : others) /= mapping.vectors.count;
  // Neighbours in memory are read by neighbouring threads.
  const bool is_along_last = !mapping.shared.back();
  mapping.round = round_of_points(mapping, threads, 1);
  if (!is_along_last && others <= kFewOthers) return mapping;
  const std::int64_t free_threads =
      points >= threads ? 1 : threads / std::max<std::int64_t>(points, 1);
  const int wanted = std::max(power_up_to(free_threads), is_along_last ? kCudaWarp : 1);
  int group = std::min({wanted, power_from(std::min<std::int64_t>(others, threads)), threads});
  int abreast = threads / group;
  // Points that are no power of two would leave threads idle: as many rows of them as there are
  // threads for.
  const bool is_odd = points > kCudaWarp && power_up_to(points) != points;
  if (!is_along_last && is_odd && points * 2 <= threads && others >= threads) {
    abreast = static_cast<int>(points);
    group = threads / abreast;
  }
  mapping.round = round_of_groups(mapping, abreast, group);
  return mapping;
}

namespace {

std::int64_t all_points(const Stage& stage) {
  return points_of(stage, std::vector<bool>(stage.loops.size(), true), true);
}

bool is_scratch(const Kernel& kernel, const Statement& statement) {
  return std::ranges::all_of(
      statement.buffers, [&](std::uint32_t b) { return kernel.buffers[b].reach == Reach::block; });
}

// Running sums that stay in the scratch of a block: each block of a cluster would have those of its
// own rows, and look there for all.
bool keeps_running_sums(const Kernel& kernel, const Stage& stage) {
  return std::ranges::any_of(stage.statements, [&](const Statement& statement) {
    if (statement.kind != Statement::Kind::scan) return false;
    const auto sums = std::span(statement.buffers).subspan(statement.values.size());
    return std::ranges::any_of(
        sums, [&](std::uint32_t b) { return kernel.buffers[b].reach == Reach::block; });
  });
}

}  // namespace

CudaShare cuda_share(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads) {
  if (is_column_scan(kernel, phase, stage, threads)) return CudaShare::others;
  const bool to_memory = std::ranges::none_of(
      stage.statements, [&](const Statement& s) { return is_scratch(kernel, s); });
  if (to_memory) return CudaShare::points;
  const CudaMapping mapping = cuda_mapping(kernel, phase, stage, threads);
  const bool is_sum =
      mapping.round.threads(CudaMapping::kOthers) > 1 &&
      std::ranges::count(mapping.accumulated, false) == 0 &&
      std::ranges::all_of(stage.statements, [](const Statement& s) { return s.guard == kNone; });
  const std::int64_t exchanged = std::int64_t{mapping.round.threads(CudaMapping::kPoints)} *
                                 mapping.vectors.count *
                                 static_cast<std::int64_t>(stage.statements.size());
  return is_sum && exchanged <= kMostExchanged && all_points(stage) >= kManyPoints
             ? CudaShare::others
             : CudaShare::all;
}

int cuda_cluster(const Kernel& kernel, const Phase& phase, const CudaLimits& limits) {
  constexpr int kMost = 8;
  const std::int64_t blocks = phase.blocks();
  if (!limits.clusters || phase.chunks > 0 || blocks == 0 || blocks >= limits.multiprocessors)
    return 1;
  std::vector<bool> written(kernel.buffers.size(), false);
  bool is_large = false, is_written_again = false;
  for (const Stage& stage : phase.stages) {
    bool scratch = false, memory = false;
    for (const Statement& statement : stage.statements) {
      (is_scratch(kernel, statement) ? scratch : memory) = true;
    }
    std::vector<bool> by_this(kernel.buffers.size(), false);
    for (const Statement& statement : stage.statements)
      for (std::uint32_t b : statement.buffers)
        by_this[b] = kernel.buffers[b].reach != Reach::block;
    for (std::size_t b = 0; b < written.size(); ++b) {
      is_written_again = is_written_again || (written[b] && by_this[b]);
      written[b] = written[b] || by_this[b];
    }
    if ((scratch && memory) || keeps_running_sums(kernel, stage)) return 1;
    const CudaShare share = cuda_share(kernel, phase, stage, kCudaThreads);
    const bool is_many = all_points(stage) >= kManyPoints;
    if (is_many && share == CudaShare::all) return 1;
    is_large = is_large || is_many;
  }
  // What one block writes to memory, another may not have seen yet.
  if (is_written_again) return 1;
  for (const Stage& stage : phase.stages)
    for (const Node& node : stage.nodes)
      if (node.kind == NodeKind::load && written[node.number]) return 1;
  if (!is_large) return 1;
  int cluster = kMost;
  while (cluster > 1 && blocks * cluster > 6 * limits.multiprocessors) cluster /= 2;
  return cluster;
}

}  // namespace heddle
