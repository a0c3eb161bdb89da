#include "kernel/cuda_layout.h"

#include <algorithm>

#include "heddle/notation.h"
#include "kernel/cuda_exchange.h"
#include "layout/picture.h"

namespace heddle {

namespace {

std::int64_t over(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Threads as warps and lanes, where they are whole ones.
Expected<Layout> finished(LayoutParts parts, const AxisRegistry& axes) {
  HEDDLE_TRY(Layout layout, Layout::make(std::move(parts)));
  auto split =
      split_axis(layout, *axes.find("thread"), kCudaWarp, *axes.find("warp"), *axes.find("lane"));
  return split ? *split : layout;
}

// Stages that a thread does by columns are written elsewhere.
bool goes_by_columns(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads,
                     int cluster) {
  IndentedText unused;
  return emit_cuda_columns(kernel, phase, stage, threads, cluster, unused) ||
         is_column_scan(kernel, phase, stage, threads);
}

}  // namespace

Expected<Layout> cuda_row_layout(const CudaResident& resident, std::int64_t grid,
                                 const AxisRegistry& axes) {
  const bool is_even = resident.part() == resident.turns() * resident.group;
  if (resident.cluster > 1 && !is_even)
    return reason("blocks of a cluster have {} units each, which {} threads do not divide",
                  resident.part(), resident.group);
  LayoutParts parts;
  const Round round = resident.round();
  const std::int64_t rows = resident.phase.blocks(), together = round.threads(CudaResident::kRows);
  const std::int64_t blocks = std::max<std::int64_t>(grid / resident.cluster, 1);
  const std::int64_t chunks = resident.phase.chunks;
  if (chunks > 0 && (rows % (chunks * together) != 0 || blocks != chunks))
    return reason("{} rows are in {} chunks, which do not divide them", rows, chunks);
  RoundDimension by_rows(rows);
  if (chunks > 0)
    by_rows.by(chunks, "block").by(rows / (chunks * together), "turn");
  else
    by_rows.by(over(rows, together * blocks), "turn").by(blocks, "block");
  by_rows.by(round.digits(CudaResident::kRows)).add_to(parts);
  RoundDimension(resident.units * resident.vector)
      .by(resident.cluster, "cluster")
      .by(round.digits(CudaResident::kColumns))
      .add_to(parts);
  return finished(std::move(parts), axes);
}

Expected<Layout> cuda_stage_layout(const Kernel& kernel, const Phase& phase, const Stage& stage,
                                   int threads, int cluster, const AxisRegistry& axes) {
  const CudaMapping mapping = cuda_mapping(kernel, phase, stage, threads);
  if (mapping.turn) return reason("threads have small tiles, which they turn");
  if (mapping.vectors.tail > 0)
    return reason("what whole accesses leave of the last loop is dealt out one by one");
  if (goes_by_columns(kernel, phase, stage, threads, cluster))
    return reason("threads stay with their columns");
  const CudaShare share = cluster > 1 ? cuda_share(kernel, phase, stage, threads) : CudaShare::all;
  const std::int64_t points = points_of(stage, mapping.shared, true);
  const std::int64_t others = points_of(stage, mapping.shared, false);
  if (points == 0 || others == 0) return reason("there is nothing to do");
  LayoutParts parts;
  // How often the block, with those of its cluster, does what it does in one turn.
  const auto add = [&](std::size_t dim, std::int64_t size, std::string_view turns,
                       CudaShare dealt) {
    const Round& round = mapping.round;
    const int blocks = share == dealt ? cluster : 1, vector = round.size(dim, RoundAxis::vec);
    RoundDimension(size)
        .by(over(size / vector, std::int64_t{round.accesses(dim)} * blocks), turns)
        .by(blocks, "cluster")
        .by(round.digits(dim))
        .add_to(parts);
  };
  add(CudaMapping::kPoints, points, "turn", CudaShare::points);
  add(CudaMapping::kOthers, others, "step", CudaShare::others);
  return finished(std::move(parts), axes);
}

Expected<Layout> cuda_flat_layout(const CudaFlat& flat, const AxisRegistry& axes) {
  if (flat.chunks > 0) return reason("threads of a block go side by side along its chunk");
  LayoutParts parts;
  const std::int64_t units = over(flat.extent, flat.vectors.count);
  RoundDimension(flat.extent)
      .by(over(units, flat.grid() * CudaFlat::kThreads), "turn")
      .by(flat.grid(), "block")
      .by(flat.round().digits(0))
      .add_to(parts);
  return finished(std::move(parts), axes);
}

namespace {

bool sums_rows(const CudaResident& resident) {
  return std::ranges::any_of(resident.phase.stages, [&](const Stage& stage) {
    const auto places = cuda_places(resident, stage);
    return has_points(resident, stage) &&
           std::ranges::any_of(stage.statements, [&](const Statement& statement) {
             return statement.kind == Statement::Kind::update && places[statement.index] &&
                    places[statement.index]->is_same_for_all_points();
           });
  });
}

// What threads have of sums along rows stays with them as far as it can.
Expected<std::string> meeting_of_sums(const Layout& rows, const AxisRegistry& axes) {
  HEDDLE_TRY(const Layout there, summed_along(rows, 1, axes));
  HEDDLE_TRY(const Layout wanted, repeated_along(rows, 1, axes));
  HEDDLE_TRY(const CudaExchange exchange, cuda_exchange(there, wanted, axes));
  const std::int64_t own = own_positions(rows, 1, axes);
  if (own == 1) return words_of(exchange);
  const std::string in_registers = fmt::format("{} in registers", own);
  return exchange.meetings.empty() ? in_registers : in_registers + ", " + words_of(exchange);
}

// What stages of a block leave for each other in its scratch.
class HandedOn {
 public:
  HandedOn(const Kernel& kernel, const Phase& phase, const CudaPhase& launch,
           const AxisRegistry& axes)
      : kernel_(kernel), phase_(phase), launch_(launch), axes_(axes) {
    for (const Stage& stage : phase.stages) places_.push_back(cuda_places(phase, stage));
  }

  std::vector<std::string> lines(std::size_t most) const {
    std::vector<std::string> lines;
    for (std::size_t to = 1; to < phase_.stages.size(); ++to)
      for (std::uint32_t b = 0; b < kernel_.buffers.size() && lines.size() < most; ++b) {
        if (kernel_.buffers[b].reach != Reach::block) continue;
        const auto read = read_in(to, b);
        const auto from = last_writer(to, b);
        if (!read || !from) continue;
        const auto exchange = between(*from, to, b, *read);
        lines.push_back(fmt::format("stage {} leaves scratch {} for {}: {}", *from, b, to,
                                    !exchange                    ? exchange.reason()
                                    : exchange->meetings.empty() ? "every thread has what it reads"
                                                                 : words_of(*exchange)));
      }
    return lines;
  }

 private:
  std::optional<NodeId> read_in(std::size_t stage, std::uint32_t buffer) const {
    for (const Node& node : phase_.stages[stage].nodes)
      if (node.kind == NodeKind::load && node.number == buffer) return node.in[0];
    return {};
  }
  const Statement* written_in(std::size_t stage, std::uint32_t buffer) const {
    for (const Statement& statement : phase_.stages[stage].statements)
      if (std::ranges::count(statement.buffers, buffer) > 0) return &statement;
    return nullptr;
  }
  std::optional<std::size_t> last_writer(std::size_t before, std::uint32_t buffer) const {
    for (std::size_t s = before; s-- > 0;)
      if (written_in(s, buffer) != nullptr) return s;
    return {};
  }

  Expected<CudaExchange> between(std::size_t from, std::size_t to, std::uint32_t buffer,
                                 NodeId read) const {
    const Statement& written = *written_in(from, buffer);
    const bool adds = written.kind == Statement::Kind::update;
    HEDDLE_TRY(const Layout there,
               values(from, written.index, adds ? CudaUse::adds : CudaUse::stores));
    HEDDLE_TRY(const Layout wanted, values(to, read, CudaUse::loads));
    return cuda_exchange(there, wanted, axes_);
  }

  Expected<Layout> values(std::size_t number, NodeId index, CudaUse use) const {
    const Stage& stage = phase_.stages[number];
    const auto& place = places_[number][index];
    if (!place) return reason("data say where it lies");
    HEDDLE_TRY(const Layout mapping,
               cuda_stage_layout(kernel_, phase_, stage, launch_.threads, launch_.cluster, axes_));
    const CudaMapping shared = cuda_mapping(kernel_, phase_, stage, launch_.threads);
    HEDDLE_TRY(const Layout layout,
               cuda_value_layout(stage, shared.shared, mapping, *place, use, axes_));
    const bool is_dealt_out = launch_.cluster == 1 ||
                              cuda_share(kernel_, phase_, stage, launch_.threads) != CudaShare::all;
    if (is_dealt_out) return layout;
    LayoutParts parts = layout.parts();  // each block of the cluster does all of it
    parts.replicas.push_back({launch_.cluster, 1, *axes_.find("cluster")});
    return Layout::make(std::move(parts));
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const CudaPhase& launch_;
  const AxisRegistry& axes_;
  std::vector<std::vector<std::optional<CudaPlace>>> places_;  // by stage and node
};

}  // namespace

std::vector<std::string> describe_cuda_mapping(const Kernel& kernel, const CudaLimits& limits) {
  const AxisRegistry& axes = kernel_axes();
  const CudaPlan plan = cuda_plan(kernel, limits);
  std::vector<std::string> lines;
  bool is_drawn = false;
  const auto add = [&](const std::string& what, const Expected<Layout>& layout) {
    if (!layout) return lines.push_back(fmt::format("{}: {}", what, layout.reason()));
    lines.push_back(fmt::format("{} {}", what, print_layout(*layout, axes)));
    const bool has_two_sides = std::ranges::all_of(
        layout->dims(), [](const DimInfo& dim) { return dim.size.factor() > 1; });
    if (is_drawn || !has_two_sides) return;
    is_drawn = true;
    const auto picture = draw(*layout, axes, {.axes = {}, .max_rows = 4, .max_columns = 8});
    if (!picture) return;
    const std::string text =
        picture_text(*picture, {.colour = false, .unicode = false, .columns = 92});
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      if (end > at) lines.push_back(text.substr(at, end - at));
    }
  };
  constexpr std::size_t kMostStages = 4;
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const Phase& phase = kernel.phases[p];
    const CudaPhase& launch = *std::ranges::find(plan.phases, p, &CudaPhase::of);
    if (const auto flat = cuda_flat(kernel, phase)) {
      add("elements lie at", cuda_flat_layout(*flat, axes));
      continue;
    }
    if (const auto resident = cuda_resident(kernel, phase, limits)) {
      const auto layout = cuda_row_layout(*resident, launch.grid, axes);
      add("rows by points lie at", layout);
      if (layout && sums_rows(*resident)) {
        const auto sums = meeting_of_sums(*layout, axes);
        lines.push_back("sums along a row meet: " + (sums ? *sums : sums.reason()));
      }
      continue;
    }
    const Phase cut = cuda_spread(kernel, phase, limits);
    for (std::size_t s = 0; s < std::min(cut.stages.size(), kMostStages); ++s)
      add(fmt::format("stage {}: points by others lie at", s),
          cuda_stage_layout(kernel, cut, cut.stages[s], launch.threads, launch.cluster, axes));
    for (std::string& line : HandedOn(kernel, cut, launch, axes).lines(kMostStages))
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace heddle
