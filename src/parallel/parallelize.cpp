// From a program to decisions about all of it: rewrites, propagation, then each op.
#include <algorithm>
#include <chrono>

#include "heddle/decide.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "ir/replica_groups.h"
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

// Arguments that are data, and no state: those that no result could take the place of, or indices
// where there is no state at all. None where there are no others.
std::vector<std::size_t> data_arguments(const Program& program, const Function& function) {
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  std::vector<std::size_t> state, data, indices;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = program.type_of(arguments[i]);
    if (!type.is_tensor() || type.rank() == 0) continue;
    const bool is_state =
        std::ranges::any_of(function.results, [&](TypeId t) { return program.type(t) == type; });
    (is_state ? state : data).push_back(i);
    if (!is_float(type.dtype)) indices.push_back(i);
  }
  if (state.empty()) return indices.size() < data.size() ? indices : std::vector<std::size_t>{};
  return data;
}

struct Way {
  Propagation layouts;
  std::unique_ptr<Decisions> decisions;
};

// What a way takes. Collectives are combined later, so that their latency counts for a part.
double seconds_of(const Decisions& decisions) {
  constexpr double kLatency = 0.25;
  const double bandwidth = least_bandwidth(decisions.on.mesh.mesh);
  double seconds = decisions.compute_seconds();
  for (const Decision& decision : decisions.ops)
    for (const Fetch& fetch : decision.fetches) {
      if (fetch.route == nullptr) continue;
      for (const Route::Step& step : fetch.route->steps) {
        const double sent = std::min(static_cast<double>(step.bytes) / bandwidth, step.seconds);
        seconds += sent + kLatency * (step.seconds - sent);
      }
    }
  return seconds;
}

Expected<Way> way_by(Parallel& parallel, const Function& function, const PropagateOptions& how,
                     std::int64_t memory_limit) {
  Way way;
  const auto begun = Clock::now();
  HEDDLE_TRY(way.layouts, propagate(parallel.program, function, parallel.rules, how));
  parallel.propagate_seconds += seconds_since(begun);
  const auto propagated = Clock::now();
  HEDDLE_TRY(way.decisions, decide(parallel.program, function, parallel.rules,
                                   parallel.program.meshes[how.mesh], way.layouts, memory_limit));
  parallel.decide_seconds += seconds_since(propagated);
  return way;
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
  constexpr double kWorth = 0.98;
  const bool better = by_data < kWorth * by_weight;
  return better ? std::move(other) : std::move(best);
}

// As a search has found it.
Expected<Way> searched_way(Parallel& parallel, const Function& function,
                           const PropagateOptions& how, const ParallelOptions& options,
                           FunctionPlan& plan) {
  Way way;
  SearchOptions search = *options.search;
  if (search.count) search.count(parallel.program, function, search);
  HEDDLE_TRY(plan.found, search_plan(parallel.program, function, parallel.rules, how, search));
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
  HEDDLE_TRY(Program prepared, with_known_places(given));
  HEDDLE_TRY(prepared, with_padding_pools(prepared));
  HEDDLE_TRY(prepared, with_shared_moves(prepared));
  HEDDLE_TRY(prepared, with_even_parts(prepared));
  HEDDLE_TRY(prepared, with_shared_moves(prepared));
  auto out = std::make_shared<Parallel>(std::move(prepared));
  const Program& program = out->program;
  for (const Function& function : program.functions) {
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
    const bool meant = is_meant || (options.function.empty() && !function.is_private);
    HEDDLE_TRY(Way way, options.search && meant
                            ? searched_way(*out, function, how, options, plan)
                            : best_way(*out, function, how, options.memory_limit));
    plan.decisions = std::move(way.decisions);
    plan.conflicts = std::move(way.layouts.conflicts);
  }
  for (const FunctionPlan& plan : out->functions)
    if (plan.decisions) lay_out(out->program, plan);
  return out;
}

}  // namespace heddle
