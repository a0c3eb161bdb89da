#include "kernel/cpu_layout.h"

#include <algorithm>

#include "heddle/notation.h"
#include "kernel/emit_llvm_ops.h"

namespace heddle {

namespace {

int vectors_of_turn(const Stage& stage, const StageShape& shape) {
  if (!shape.vectorised) return 1;
  bool in_order = false, heavy = false;
  for (std::size_t id = 0; id < stage.nodes.size(); ++id)
    heavy = heavy || (shape.nodes[id].vector_needed && is_heavy(stage.nodes[id].op));
  for (const StatementPlan& plan : shape.statements)
    in_order = in_order || plan.way == Way::lane_by_lane || plan.way == Way::scalar_accumulator;
  if (in_order) return 1;
  const auto statements = static_cast<int>(stage.statements.size());
  // Chains of functions wait for themselves; one vector of many light ops fills a turn.
  const int work = vector_work(stage, shape);
  int copies = work <= 10 ? 4 : work <= 30 || heavy ? 2 : 1;
  while (copies > 1 && copies * statements > 16) copies /= 2;
  while (copies > 1 && shape.loops.back().size < std::int64_t{copies} * shape.lanes) copies /= 2;
  return copies;
}

}  // namespace

int vector_work(const Stage& stage, const StageShape& shape) {
  int work = 0;
  for (std::size_t id = 0; id < stage.nodes.size(); ++id)
    if (shape.nodes[id].vector_needed) work += is_heavy(stage.nodes[id].op) ? 12 : 1;
  return work;
}

Round cpu_round(const Stage& stage, const StageShape& shape) {
  return Round({{{RoundAxis::reg, vectors_of_turn(stage, shape)}, {RoundAxis::vec, shape.lanes}}});
}

Expected<Layout> cpu_stage_layout(const Phase& phase, const Stage& stage, const StageShape& shape) {
  if (shape.empty) return reason("there is nothing to do");
  const Round round = cpu_round(stage, shape);
  const std::int64_t turn = round.points(0), blocks = phase.blocks();
  const AxisId step = *kernel_axes().find("step");
  LayoutParts parts;
  RoundDimension(blocks).by(blocks, "block").add_to(parts);
  const auto steps_of = [&](std::size_t i) {
    const bool is_last = shape.vectorised && i + 1 == shape.loops.size();
    return is_last ? (shape.loops[i].size + turn - 1) / turn : shape.loops[i].size;
  };
  std::int64_t apart = 1;
  for (std::size_t i = 0; i < shape.loops.size(); ++i)
    if (__builtin_mul_overflow(apart, steps_of(i), &apart)) return reason("its steps are too many");
  for (std::size_t i = 0; i < shape.loops.size(); ++i) {
    const std::int64_t steps = steps_of(i);
    apart /= std::max<std::int64_t>(steps, 1);
    RoundDimension dim(shape.loops[i].size);
    dim.by(Digits{{steps, apart, step}});
    if (shape.vectorised && i + 1 == shape.loops.size()) dim.by(round.digits(0));
    dim.add_to(parts);
  }
  return Layout::make(std::move(parts));
}

std::vector<std::string> describe_cpu_mapping(const Kernel& kernel, const VectorTarget& target) {
  constexpr std::size_t kMostStages = 2;
  std::vector<std::string> lines;
  for (const Phase& phase : kernel.phases)
    for (std::size_t s = 0; s < phase.stages.size() && lines.size() < kMostStages; ++s) {
      const Stage& stage = phase.stages[s];
      const auto layout = cpu_stage_layout(phase, stage, analyse(phase, stage, kernel, target));
      lines.push_back(fmt::format("stage {}: blocks by loops lie at {}", s,
                                  layout ? print_layout(*layout, kernel_axes()) : layout.reason()));
    }
  return lines;
}

}  // namespace heddle
