// From a program to decisions about all of it: rewrites, propagation, then each op.
#include <algorithm>
#include <chrono>

#include "heddle/decide.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "ir/replica_groups.h"
#include "parallel/data_arguments.h"
#include "parallel/messages.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The mesh that a function's shardings name first.
std::uint32_t mesh_in(const Program& program, RegionId region) {
  auto of = [&](ValueId v) {
    const ValueLayout* l = program.layout_of(v);
    return l != nullptr && program.meshes[l->mesh].mesh.devices() > 1 ? l->mesh : kNone;
  };
  for (ValueId v : program.region(region).args)
    if (const std::uint32_t m = of(v); m != kNone) return m;
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    for (LayoutId l : program.operand_layouts(op))
      if (const ValueLayout* layout = program.layout(l);
          layout != nullptr && program.meshes[layout->mesh].mesh.devices() > 1)
        return layout->mesh;
    for (std::size_t i = 0; i < op.result_count; ++i)
      if (const std::uint32_t m = of(program.result(op, i)); m != kNone) return m;
    for (RegionId inner : program.regions(op))
      if (const std::uint32_t m = mesh_in(program, inner); m != kNone) return m;
  }
  return kNone;
}

Expected<std::uint32_t> mesh_for(const Program& program, const Function& function,
                                 const ParallelOptions& options) {
  if (!options.mesh.empty()) {
    for (std::uint32_t m = 0; m < program.meshes.size(); ++m)
      if (program.meshes[m].name == options.mesh) return m;
    return reason("the program has no mesh @{}", options.mesh);
  }
  for (LayoutId l : function.result_layouts)
    if (const ValueLayout* layout = program.layout(l);
        layout != nullptr && program.meshes[layout->mesh].mesh.devices() > 1)
      return layout->mesh;
  return mesh_in(program, function.body);
}

// Layouts ride on values: as they lie once they are there, on the mesh that the text names.
void lay_out(Program& program, const FunctionPlan& plan) {
  std::map<std::pair<int, std::uint32_t>, LayoutId> known;
  const Decisions& decisions = *plan.decisions;
  for (ValueId v = 0; v < decisions.lies.size(); ++v) {
    const int split = decisions.lies[v];
    if (split < 0 || !program.type_of(v).is_tensor()) continue;
    const ValueLayout* said = program.layout_of(v);
    const std::uint32_t mesh = said == nullptr ? plan.mesh : said->mesh;
    auto [it, is_new] = known.try_emplace({split, mesh}, kNone);
    if (is_new)
      if (auto layout =
              layout_of(decisions.split(split), decisions.on.mesh.mesh, program.axes.mem()))
        it->second = program.intern(ValueLayout{mesh, *std::move(layout), {}});
    if (it->second != kNone) program.set_layout(v, it->second);
  }
}

struct Way {
  Propagation layouts;
  std::unique_ptr<Decisions> decisions;
};

// What a way takes. Collectives are combined later, so that their latency counts for a part.
constexpr double kWorth = 0.98;
double seconds_of(const Decisions& decisions) {
  constexpr double kLatency = 0.25;
  const double bandwidth = least_bandwidth(decisions.on.mesh.mesh);
  double seconds = 0;
  for (const Decision& decision : decisions.ops) {
    if (decision.choice) seconds += decision.times * decision.choice->price.own();
    for (const Fetch& fetch : decision.fetches) {
      if (fetch.again) seconds += decision.times * fetch.again->price.compute;
      if (fetch.route == nullptr) continue;
      for (const Route::Step& step : fetch.route->steps) {
        const double sent = std::min(static_cast<double>(step.bytes) / bandwidth, step.seconds);
        seconds += fetch.times * (sent + kLatency * (step.seconds - sent));
      }
    }
  }
  return seconds;
}

Expected<Way> decided(Parallel& parallel, const Function& function, std::uint32_t mesh,
                      Propagation layouts, std::int64_t memory_limit) {
  Way way{std::move(layouts), {}};
  const auto begun = Clock::now();
  HEDDLE_TRY(way.decisions, decide(parallel.program, function, parallel.rules,
                                   parallel.program.meshes[mesh], way.layouts, memory_limit));
  parallel.decide_seconds += seconds_since(begun);
  return way;
}

// Each op may count what it needs as if it came alone, or as if it came together with what others
// need: the way that takes less is taken.
Expected<Way> way_by(Parallel& parallel, const Function& function, const PropagateOptions& how,
                     std::int64_t memory_limit) {
  const auto begun = Clock::now();
  HEDDLE_TRY(Propagation layouts, propagate(parallel.program, function, parallel.rules, how));
  parallel.propagate_seconds += seconds_since(begun);
  HEDDLE_TRY(Way alone, decided(parallel, function, how.mesh, layouts, memory_limit));
  layouts.moves_together = true;
  HEDDLE_TRY(Way together, decided(parallel, function, how.mesh, std::move(layouts), memory_limit));
  const double one = seconds_of(*alone.decisions), other = seconds_of(*together.decisions);
  log(kLogSteps, "parallel: @{} takes {:.4g} ms with moves alone, {:.4g} ms with moves together",
      function.name, one * 1e3, other * 1e3);
  constexpr double kLess = 0.999;
  return other < kLess * one ? std::move(together) : std::move(alone);
}

// Where wishes collide, those of the data may come first: batches against parameters that are
// split over the same axis. The cheaper way is taken.
Expected<Way> best_way(Parallel& parallel, const Function& function, PropagateOptions how,
                       std::int64_t memory_limit) {
  HEDDLE_TRY(Way best, way_by(parallel, function, how, memory_limit));
  how.first = data_arguments(parallel.program, function);
  if (best.layouts.conflicts.empty() || how.first.empty()) return best;
  HEDDLE_TRY(Way other, way_by(parallel, function, how, memory_limit));
  const double by_weight = seconds_of(*best.decisions), by_data = seconds_of(*other.decisions);
  log(kLogSteps,
      "parallel: @{} takes {:.3g} ms where large values say first how they lie, "
      "{:.3g} ms where data do",
      function.name, by_weight * 1e3, by_data * 1e3);
  const bool better = by_data < kWorth * by_weight;
  return better ? std::move(other) : std::move(best);
}

// As a search has found it.
Expected<Way> searched_way(Parallel& parallel, Function& function, const PropagateOptions& how,
                           const ParallelOptions& options, std::span<const Recomputing> others,
                           FunctionPlan& plan) {
  Way way;
  HEDDLE_TRY(plan.found,
             search_plan(parallel.program, function, parallel.rules, how, *options.search, others));
  if (plan.found->recomputed) function = others[plan.found->recomputed->which].function;
  way.layouts = std::move(plan.found->layouts);
  parallel.propagate_seconds += plan.found->seconds;
  const auto found = Clock::now();
  HEDDLE_TRY(way.decisions,
             decide(parallel.program, function, parallel.rules, parallel.program.meshes[how.mesh],
                    way.layouts, options.memory_limit));
  parallel.decide_seconds += seconds_since(found);
  return way;
}

}  // namespace

Expected<std::shared_ptr<Parallel>> parallelize(const Program& given,
                                                const ParallelOptions& options) {
  for (const MeshDecl& mesh : given.meshes)
    if (auto size = mesh_size(mesh); !size) return size.why();
  const bool any_said = !options.seeds.empty() || !options.carried.empty();
  if (any_said && !options.function.empty() && given.find_function(options.function) == nullptr)
    return reason("there is no function @{}, of which layouts are said", options.function);
  HEDDLE_TRY(Program prepared, without_empty_values(given));
  HEDDLE_TRY(prepared, with_known_places(prepared));
  HEDDLE_TRY(prepared, with_invariants_outside(prepared));
  HEDDLE_TRY(prepared, with_padding_pools(prepared));
  HEDDLE_TRY(prepared, with_shared_moves(prepared));
  HEDDLE_TRY(prepared, with_even_parts(prepared, options.rows_lie_on_stages));
  HEDDLE_TRY(prepared, with_shared_moves(prepared));
  const auto is_searched = [&](const Function& f) {
    const bool is_meant = f.name == options.function || (options.function.empty() && !f.is_private);
    return options.search && is_meant && f.body != kNone;
  };
  std::vector<std::vector<Recomputing>> others;  // by function
  for (const Function& function : prepared.functions)
    others.push_back(is_searched(function) ? recomputing(prepared, function, *options.search)
                                           : std::vector<Recomputing>{});
  auto out = std::make_shared<Parallel>(std::move(prepared));
  const Program& program = out->program;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    Function& function = out->program.functions[i];
    FunctionPlan& plan = out->functions.emplace_back();
    if (function.body == kNone) continue;
    HEDDLE_TRY(plan.mesh, mesh_for(program, function, options));
    if (plan.mesh == kNone) continue;
    PropagateOptions how;
    how.mesh = plan.mesh;
    how.closed_boundary = options.closed_boundary;
    const bool is_meant = function.name == options.function;
    if (is_meant || (options.function.empty() && !function.is_private)) how.seeds = options.seeds;
    if (is_meant) how.carried = options.carried;
    HEDDLE_TRY(Way way, is_searched(function)
                            ? searched_way(*out, function, how, options, others[i], plan)
                            : best_way(*out, function, how, options.memory_limit));
    plan.decisions = std::move(way.decisions);
    plan.conflicts = std::move(way.layouts.conflicts);
  }
  for (const FunctionPlan& plan : out->functions)
    if (plan.decisions) lay_out(out->program, plan);
  return out;
}

}  // namespace heddle
