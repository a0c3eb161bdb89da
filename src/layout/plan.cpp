#include "heddle/plan.h"

#include <algorithm>
#include <array>

#include "heddle/hash.h"
#include "heddle/log.h"
#include "heddle/notation.h"
#include "layout/digits.h"
#include "layout/plan_moves.h"

namespace heddle {

using namespace detail;

std::string_view name(MoveKind kind) {
  static constexpr std::array<std::string_view, 11> names = {
      "slice",   "mask",      "all-gather",    "reduce-scatter", "all-reduce", "all-to-all",
      "permute", "broadcast", "halo-exchange", "local-copy",     "exchange"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

// ---- may these two be planned at all

Verdict check_side(const Layout& layout, const char* which, const Mesh& mesh,
                   const AxisRegistry& axes) {
  if (!layout.concrete()) return reason("[plan] the {} has unknown sizes; bind them first", which);
  if (auto ok = validate(layout, axes); !ok)
    return reason("[plan] the {} is not well formed: {}", which, ok.reason());
  for (AxisId axis : axes_of(layout)) {
    const AxisInfo& info = axes[axis];
    if (info.kind == AxisKind::memory) continue;
    const MeshAxis* on_mesh = mesh.find(axis);
    if (on_mesh == nullptr)
      return reason("[plan] the {} uses axis {}, which the mesh ({}) does not have", which,
                    info.name, mesh.str());
    std::int64_t reach = range_on(layout.parts(), axis).hi + 1;
    if (reach > on_mesh->size)
      return reason("[plan] the {} needs {} positions on axis {}; the mesh ({}) has {}", which,
                    reach, info.name, mesh.str(), on_mesh->size);
  }
  return yes();
}

Verdict check_same_tensor(const Layout& source, const Layout& target) {
  if (source.rank() != target.rank())
    return reason("[plan] the source has {} dimensions and the target {}", source.rank(),
                  target.rank());
  for (std::size_t d = 0; d < source.rank(); ++d) {
    const DimInfo& a = source.dims()[d];
    const DimInfo& b = target.dims()[d];
    if (!(a.size == b.size))
      return reason("[plan] dimension {} has {} elements in the source and {} in the target", d,
                    show(a.size), show(b.size));
    // What the target holds, the source must hold.
    auto held = [](const DimInfo& i) {
      return std::pair(std::max<std::int64_t>(0, i.origin),
                       std::min(i.size.factor(), i.origin + i.padded.factor()));
    };
    if (held(b).first < held(a).first || held(b).second > held(a).second)
      return reason(
          "[plan] the target holds elements {} to {} of dimension {} and the source only {} to {}",
          held(b).first, held(b).second - 1, d, held(a).first, held(a).second - 1);
  }
  return yes();
}

bool has_halo(const Layout& layout) {
  return std::any_of(layout.dims().begin(), layout.dims().end(),
                     [](const DimInfo& d) { return d.has_halo(); });
}

// ---- the plan

class Assembler {
 public:
  explicit Assembler(const PlanContext& in) : in_(in) {}

  Expected<Plan> run() {
    plan_.source = in_.source;
    plan_.target = in_.target;
    plan_.element_bits = in_.options.element_bits;
    if (in_.source == in_.target || halo_is_there()) return std::move(plan_);
    auto space = make_plan_space(in_.source, in_.core_target, in_.mesh, in_.axes, in_.options);
    HEDDLE_TRY_VOID(space ? by_search(*space) : by_exchange(space.reason()));
    if (has_halo(in_.target)) {
      if (bytes_so_far() == 0)
        plan_.bound_bytes = std::max(plan_.bound_bytes, least_halo_bytes(in_));
      Move halo = halo_move(in_);
      // The room for the halo is there from the move on that fills the rest.
      if (!plan_.moves.empty())
        plan_.moves.back().live += halo.live - in_.bytes_of(in_.core_target);
      plan_.moves.push_back(std::move(halo));
    }
    for (const Move& m : plan_.moves) {
      plan_.seconds += m.seconds;
      plan_.peak_bytes = std::max(plan_.peak_bytes, m.live);
    }
    plan_.bytes = bytes_so_far();
    if (!fits(plan_.peak_bytes)) return over_cap(plan_.peak_bytes);
    double fastest = 0;
    for (const MeshAxis& a : in_.mesh.axes())
      if (a.size > 1) fastest = std::max(fastest, a.link.bandwidth);
    if (fastest > 0) plan_.bound_seconds = static_cast<double>(plan_.bound_bytes) / fastest;
    return std::move(plan_);
  }

 private:
  // The source already has the target's halo and everything else.
  bool halo_is_there() const {
    for (std::size_t d = 0; d < in_.source.rank(); ++d)
      if (in_.source.dims()[d].halo_lo < in_.target.dims()[d].halo_lo ||
          in_.source.dims()[d].halo_hi < in_.target.dims()[d].halo_hi)
        return false;
    return without_halo(in_.source) == in_.core_target;
  }

  std::int64_t bytes_so_far() const {
    std::int64_t bytes = 0;
    for (const Move& m : plan_.moves) bytes += m.bytes;
    return bytes;
  }

  bool fits(std::int64_t live) const {
    return in_.options.memory_cap == 0 || live <= in_.options.memory_cap;
  }

  Reason over_cap(std::int64_t least) const {
    return reason(
        "[plan] no plan keeps to {} bytes on a holder: the least that works needs {} (the source "
        "has {}, the target {})",
        in_.options.memory_cap, least, in_.bytes_of(in_.source), in_.bytes_of(in_.target));
  }

  Verdict by_exchange(const std::string& cause) {
    Move general = exchange_move(in_, nullptr);
    general.why = "nothing finer applies: " + cause;
    if (!fits(general.live)) return over_cap(general.live);
    // At best everything that fits was already there.
    if (!in_.uneven())
      plan_.bound_bytes =
          std::max<std::int64_t>(0, in_.bytes_of(in_.core_target) - in_.bytes_of(in_.source));
    plan_.moves.push_back(std::move(general));
    return yes();
  }

  Verdict by_search(const PlanSpace& space) {
    plan_.bound_bytes = least_bytes(in_, space);
    Move general = exchange_move(in_, &space);
    const bool general_fits = fits(general.live);
    auto best = search(space, {SearchGoal::fastest, in_.options.memory_cap, true, false});
    std::vector<Move> path;
    if (best) {
      plan_.states = best->states;
      path = moves_along(in_, space, *best);
      best->seconds = 0;
      for (const Move& m : path) {
        best->seconds += m.seconds;
        best->peak = std::max(best->peak, m.live);
      }
      if (!fits(best->peak)) best.reset();
    }
    if (!best && !general_fits) {
      auto least = search(space, {SearchGoal::least_memory, 0, true, false});
      return over_cap(std::min(least ? least->peak : general.live, general.live));
    }
    const bool take_general = !best || (general_fits && general.seconds < best->seconds);
    if (in_.options.explain) explain(space, best, general, take_general);
    if (take_general) {
      general.why = best ? "cheaper than any sequence of collectives"
                         : "no sequence of collectives keeps to the memory cap";
      path = {std::move(general)};
    }
    plan_.moves = std::move(path);
    return yes();
  }

  void explain(const PlanSpace& space, const std::optional<SearchResult>& best, const Move& general,
               bool took_general) {
    auto say = [&](std::string what, double seconds, std::int64_t peak, std::string why_not) {
      plan_.rejected.push_back({std::move(what), seconds, peak, std::move(why_not)});
    };
    const double taken = took_general ? general.seconds : best->seconds;
    auto slower = [&](double seconds) -> std::string {
      if (!(taken > 0)) return "the plan taken sends nothing";
      if (seconds < 1.05 * taken) return "no faster, and more memory or messages";
      return fmt::format("{:.1f} times as slow", seconds / taken);
    };
    if (in_.options.memory_cap > 0)
      if (auto free = search(space, {SearchGoal::fastest, 0, true, false});
          free && free->seconds < taken)
        say("the fastest plan without the memory cap", free->seconds, free->peak,
            fmt::format("needs {} bytes on a holder; the cap is {}", free->peak,
                        in_.options.memory_cap));
    if (auto naive = search(space, {SearchGoal::fastest, 0, false, true});
        naive && naive->seconds > taken * 1.0001)
      say("gather everything everywhere, then cut", naive->seconds, naive->peak,
          slower(naive->seconds));
    const bool grouped = best && std::any_of(best->steps.begin(), best->steps.end(),
                                             [](const Step& s) { return s.subs.size() > 1; });
    if (grouped && !took_general)
      if (auto single = search(space, {SearchGoal::fastest, 0, false, false}); single)
        say("one axis at a time", single->seconds, single->peak, slower(single->seconds));
    if (!took_general && !best->steps.empty())
      say("one general exchange of footprints", general.seconds, general.live,
          general.seconds >= best->seconds ? slower(general.seconds) : "over the memory cap");
    if (took_general && best)
      say("the best sequence of collectives", best->seconds, best->peak, slower(best->seconds));
  }

  const PlanContext& in_;
  Plan plan_;
};

void log_plan(const Plan& plan, const AxisRegistry& axes) {
  if (log_level() == kLogSteps)
    log(kLogSteps, "plan: {} moves, {} bytes, {:.3g} s", plan.moves.size(), plan.bytes,
        plan.seconds);
  if (log_level() < kLogPlans) return;
  std::string text =
      fmt::format("plan {} -> {}: {:.3g} s, {} bytes", print_layout(plan.source, axes),
                  print_layout(plan.target, axes), plan.seconds, plan.bytes);
  for (const Move& m : plan.moves)
    text += fmt::format("; {} {} bytes ({})", name(m.kind), m.bytes, m.why);
  log(kLogPlans, "{}", text);
}

}  // namespace

Expected<Plan> plan_redistribution(const Layout& source, const Layout& target, const Mesh& mesh,
                                   const AxisRegistry& axes, const PlanOptions& options) {
  if (options.element_bits < 1 || options.element_bits > 1024)
    return reason("[plan] elements of {} bits; between 1 and 1024 are possible",
                  options.element_bits);
  if (options.memory_cap < 0)
    return reason("[plan] the memory cap is {} bytes", options.memory_cap);
  HEDDLE_TRY_VOID(check_side(source, "source", mesh, axes));
  HEDDLE_TRY_VOID(check_side(target, "target", mesh, axes));
  HEDDLE_TRY_VOID(check_same_tensor(source, target));
  for (const Layout* l : {&source, &target})
    if (static_cast<double>(extent_of(l->digits()).factor()) *
            static_cast<double>(options.element_bits) >
        3e19)
      return reason("[plan] the tensor has more bytes than 2^61");
  const PlanContext in{source, target, without_halo(target), mesh, axes, options};
  auto plan = Assembler(in).run();
  if (plan) log_plan(*plan, axes);
  return plan;
}

// ---- memory of plans

namespace {

std::uint64_t key_of(const Layout& source, const Layout& target, const Mesh& mesh,
                     const PlanOptions& o) {
  std::uint64_t h = hash_combine(source.hash(), target.hash());
  h = hash_combine(h, mesh.hash());
  return hash_combine(
      h, hash_combine(static_cast<std::uint64_t>(o.memory_cap),
                      static_cast<std::uint64_t>(o.element_bits * 2 + (o.explain ? 1 : 0))));
}

}  // namespace

std::shared_ptr<const Plan> Planner::find(std::uint64_t key, const Layout& source,
                                          const Layout& target, const Mesh& mesh,
                                          const PlanOptions& o) const {
  auto [first, last] = plans_.equal_range(key);
  for (; first != last; ++first) {
    const Entry& e = first->second;
    if (e.options.memory_cap == o.memory_cap && e.options.element_bits == o.element_bits &&
        e.options.explain == o.explain && e.source == source && e.target == target &&
        e.mesh == mesh)
      return e.plan;
  }
  return nullptr;
}

Expected<std::shared_ptr<const Plan>> Planner::plan(const Layout& source, const Layout& target,
                                                    const Mesh& mesh, const PlanOptions& options) {
  const std::uint64_t key = key_of(source, target, mesh, options);
  {
    std::shared_lock lock(mutex_);
    if (auto known = find(key, source, target, mesh, options)) return known;
  }
  HEDDLE_TRY(Plan made, plan_redistribution(source, target, mesh, axes_, options));
  auto plan = std::make_shared<const Plan>(std::move(made));
  std::unique_lock lock(mutex_);
  if (auto known = find(key, source, target, mesh, options)) return known;
  // Bounded: when full, start anew; planning again is cheap and the same plan results.
  if (plans_.size() >= capacity_) plans_.clear();
  plans_.emplace(key, Entry{source, target, mesh, options, plan});
  return std::shared_ptr<const Plan>(plan);
}

std::size_t Planner::size() const {
  std::shared_lock lock(mutex_);
  return plans_.size();
}

}  // namespace heddle
