#include "heddle/plan.h"

#include <algorithm>
#include <limits>

#include "heddle/hash.h"
#include "heddle/log.h"
#include "heddle/notation.h"
#include "layout/digits.h"
#include "layout/plan_route.h"

namespace heddle {

using namespace detail;

namespace {

// ---- may these two be planned at all

// "n, m"
std::string open_sizes(const Layout& layout, const AxisRegistry& axes) {
  std::vector<std::string_view> names;
  const auto note = [&](const Dim& dim) {
    for (const SymbolId symbol : dim.symbols())
      if (symbol != 0 &&
          std::find(names.begin(), names.end(), axes.symbol_name(symbol)) == names.end())
        names.push_back(axes.symbol_name(symbol));
  };
  for (const DimInfo& d : layout.dims()) {
    note(d.size);
    note(d.padded);
  }
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list) {
      note(i.extent);
      note(i.stride);
    }
  for (const AxisOffset& o : layout.offset()) note(o.value);
  return fmt::format("{}", fmt::join(names, ", "));
}

Verdict check_side(const Layout& layout, const char* which, const Mesh& mesh,
                   const AxisRegistry& axes) {
  if (!layout.concrete()) {
    const std::string open = open_sizes(layout, axes);
    return reason("[plan] the {} has no number for {}: bind sizes first, as in --bind {}=16", which,
                  open, open.substr(0, open.find(',')));
  }
  if (auto ok = validate(layout, axes); !ok)
    return reason("[plan] the {} is not well formed: {}", which, ok.reason());
  if (auto ok = check_covers(layout); !ok)
    return reason("[plan] the {} leaves elements out: {}", which, ok.reason());
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
  }
  return yes();
}

// No element at all.
bool empty(const Layout& layout) {
  return std::any_of(layout.dims().begin(), layout.dims().end(),
                     [](const DimInfo& d) { return d.size.is_zero(); });
}

// ---- the plan

class Assembler {
 public:
  explicit Assembler(const PlanContext& in) : in_(in) {}

  Expected<Plan> run() {
    plan_.source = in_.source;
    plan_.target = in_.target;
    plan_.element_bits = in_.options.element_bits;
    if (in_.source == in_.target || empty(in_.source) || halo_is_there()) {
      if (!empty(in_.source))
        plan_.peak_bytes = std::max(in_.bytes_of(in_.source), in_.bytes_of(in_.target));
      if (!fits(plan_.peak_bytes)) return over_cap(plan_.peak_bytes);
      return std::move(plan_);
    }
    auto space = make_plan_space(in_.source, in_.core_target, in_.mesh, in_.axes, in_.options);
    HEDDLE_TRY(Way way, space ? by_search(*space) : by_exchange(space.reason()));
    plan_.moves = std::move(way.moves);
    plan_.seconds = way.seconds;
    plan_.peak_bytes = way.peak;
    for (const Move& m : plan_.moves) plan_.bytes += m.bytes;
    if (in_.options.bound) set_bound(space ? &*space : nullptr);
    return std::move(plan_);
  }

 private:
  void set_bound(const PlanSpace* space) {
    plan_.bound_bytes = least_bytes(in_, space);
    double fastest = 0;
    for (const MeshAxis& a : in_.mesh.axes())
      if (a.size > 1) fastest = std::max(fastest, a.link.bandwidth);
    if (fastest > 0) plan_.bound_seconds = static_cast<double>(plan_.bound_bytes) / fastest;
  }

  // Adds what fills the halo, and adds up.
  Way complete(std::vector<Move> moves) const {
    if (has_halo(in_.target)) {
      Move halo = halo_move(in_);
      // The room for the halo is there from the move on that fills the rest.
      if (!moves.empty()) moves.back().live += halo.live - in_.bytes_of(in_.core_target);
      moves.push_back(std::move(halo));
    }
    return way_of(std::move(moves));
  }

  // The source already has the target's halo and everything else.
  bool halo_is_there() const {
    for (std::size_t d = 0; d < in_.source.rank(); ++d)
      if (in_.source.dims()[d].halo_lo < in_.target.dims()[d].halo_lo ||
          in_.source.dims()[d].halo_hi < in_.target.dims()[d].halo_hi)
        return false;
    return without_halo(in_.source) == in_.core_target;
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

  Expected<Way> by_exchange(const std::string& cause) {
    Move general = exchange_move(in_, nullptr);
    general.why = "nothing finer applies: " + cause;
    return or_in_legs(complete({std::move(general)}), std::numeric_limits<std::int64_t>::max());
  }

  // The exchange, or a faster way with collectives before or after one. There are more layouts to
  // pass through than are tried.
  Expected<Way> or_in_legs(Way general, std::int64_t least) {
    plan_.exhaustive = false;
    ++plan_.states;
    double halo = general.seconds;  // the part that every way has at its end
    halo -= general.moves.front().seconds;
    const bool possible = fits(general.peak);
    Routes routes = find_routes(in_, possible ? general.seconds - halo : 1e300, plan_.states);
    plan_.states += routes.states;
    std::optional<Way> legs;
    if (routes.best) {
      legs = complete(std::move(routes.best->moves));
      if (!fits(legs->peak)) legs.reset();
    }
    if (!legs && !possible) return over_cap(std::min(least, general.peak));
    const double taken = legs ? legs->seconds : general.seconds;
    if (in_.options.explain) {
      if (legs) reject("one general exchange of footprints", general, taken);
      std::stable_sort(routes.others.begin(), routes.others.end(),
                       [](const Way& a, const Way& b) { return a.seconds < b.seconds; });
      for (std::size_t i = 0; i < std::min<std::size_t>(routes.others.size(), 2); ++i)
        reject(through_words(routes.others[i]), routes.others[i], taken);
    }
    return legs ? *std::move(legs) : std::move(general);
  }

  std::string through_words(const Way& way) const {
    std::string text = "through";
    for (const Layout& stop : way.through)
      text += fmt::format("{} {}", &stop == &way.through.front() ? "" : " and",
                          print_layout(stop, in_.axes));
    return text;
  }

  std::optional<Way> by_collectives(const PlanSpace& space, SearchRules rules) {
    const Searched found = search(space, rules);
    plan_.states += found.states;
    plan_.exhaustive = plan_.exhaustive && found.exhaustive;
    if (!found.way) return std::nullopt;
    grouped_ = std::any_of(found.way->steps.begin(), found.way->steps.end(),
                           [](const Step& s) { return s.subs.size() > 1; });
    return complete(moves_along(in_, space, *found.way));
  }

  Expected<Way> by_search(const PlanSpace& space) {
    const std::int64_t cap = in_.options.memory_cap;
    Way general = complete({exchange_move(in_, &space)});
    // Of a collective and an exchange that cost the same the collective is taken.
    const double slowest = general.moves.front().seconds * (1 + 1e-6) + 1e-9;
    auto best = by_collectives(
        space, {.memory_cap = cap, .faster_than = fits(general.peak) ? slowest : 1e300});
    std::int64_t least = general.peak;
    // Copies before and after the collectives may need more than the search knows of.
    if (cap > 0 && (!best || !fits(best->peak))) {
      best = by_collectives(space, {.goal = SearchGoal::least_memory});
      if (best) least = std::min(least, best->peak);
      if (best && !fits(best->peak)) best.reset();
    }
    const bool take_general = !best || (fits(general.peak) && general.seconds < best->seconds);
    if (take_general) {
      general.moves.front().why = best || cap == 0
                                      ? "cheaper than any sequence of collectives"
                                      : "no sequence of collectives keeps to the memory cap";
      HEDDLE_TRY(Way taken, or_in_legs(std::move(general), least));
      if (in_.options.explain) explain(space, taken.seconds);
      if (in_.options.explain)
        if (const auto slower = search(space, {.memory_cap = cap}).way)
          reject("the best sequence of collectives", {{}, slower->seconds, slower->peak, {}},
                 taken.seconds);
      return taken;
    }
    if (in_.options.explain) {
      explain(space, best->seconds);
      if (grouped_)
        if (const auto single = search(space, {.groups = false}).way)
          reject("one axis at a time", {{}, single->seconds, single->peak, {}}, best->seconds);
      if (best->seconds > 0) reject("one general exchange of footprints", general, best->seconds);
    }
    return *std::move(best);
  }

  void reject(std::string what, const Way& way, double taken) {
    std::string why_not = "no faster, and more memory or messages";
    if (!fits(way.peak))
      why_not = fmt::format("needs {} bytes on a holder; the cap is {}", way.peak,
                            in_.options.memory_cap);
    else if (!(taken > 0))
      why_not = "the plan taken sends nothing";
    else if (way.seconds > 99.5 * taken)
      why_not = "more than 100 times as slow";
    else if (way.seconds >= 1.05 * taken)
      why_not = fmt::format("{:.1f} times as slow", way.seconds / taken);
    plan_.rejected.push_back({std::move(what), way.seconds, way.peak, std::move(why_not)});
  }

  // What was there to choose from beside the plan taken.
  void explain(const PlanSpace& space, double taken) {
    if (in_.options.memory_cap > 0)
      if (const auto free = search(space, {}).way;
          free && free->seconds < taken && !fits(free->peak))
        reject("the fastest plan without the memory cap", {{}, free->seconds, free->peak, {}},
               taken);
    if (const auto naive = search(space, {.groups = false, .gather_only = true}).way;
        naive && naive->seconds > taken * 1.0001)
      reject("gather everything everywhere, then cut", {{}, naive->seconds, naive->peak, {}},
             taken);
  }

  const PlanContext& in_;
  Plan plan_;
  bool grouped_ = false;  // a collective over several sub-axes at once
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
            8 * static_cast<double>(kMostBytes) ||
        holder_bytes(*l, axes, options.element_bits) >= kMostBytes)
      return reason(
          "[plan] the tensor, or a holder's part with its halo, has more than 2^61 bytes");
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
                      static_cast<std::uint64_t>(o.element_bits * 4 + (o.explain ? 2 : 0) +
                                                 (o.bound ? 1 : 0))));
}

}  // namespace

std::shared_ptr<const Plan> Planner::find(std::uint64_t key, const Layout& source,
                                          const Layout& target, const Mesh& mesh,
                                          const PlanOptions& o) const {
  auto [first, last] = plans_.equal_range(key);
  for (; first != last; ++first) {
    const Entry& e = first->second;
    if (e.options == o && e.source == source && e.target == target && e.mesh == mesh) return e.plan;
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
