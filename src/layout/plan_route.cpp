#include "layout/plan_route.h"

#include <algorithm>

namespace heddle {

namespace {

constexpr int kMostStates = 300;  // over all legs, however many sub-axes there are
constexpr int kMostLegs = 40;

class Router {
 public:
  Router(const PlanContext& in, double faster_than, int looked_at)
      : in_(in), limit_(faster_than), most_states_(kMostStates - looked_at) {}

  Routes run() {
    const PlanStops stops = plan_stops(in_);
    struct Half {
      const Layout* stop;
      Way way;
    };
    std::vector<Half> firsts;
    std::vector<Half> lasts;
    for (const Layout& stop : stops.first)
      if (auto way = leg(in_.source, stop)) firsts.push_back({&stop, *std::move(way)});
    for (const Layout& stop : stops.last)
      if (auto way = leg(stop, in_.core_target)) lasts.push_back({&stop, *std::move(way)});
    const auto cheaper = [](const Half& a, const Half& b) { return a.way.seconds < b.way.seconds; };
    std::stable_sort(firsts.begin(), firsts.end(), cheaper);
    std::stable_sort(lasts.begin(), lasts.end(), cheaper);
    for (const Half& first : firsts)
      consider({&first.way}, *first.stop, in_.core_target, {}, {*first.stop});
    for (const Half& last : lasts) consider({}, in_.source, *last.stop, {&last.way}, {*last.stop});
    for (const Half& first : firsts)
      for (const Half& last : lasts)
        if (!(*first.stop == *last.stop))
          consider({&first.way}, *first.stop, *last.stop, {&last.way}, {*first.stop, *last.stop});
    return std::move(routes_);
  }

 private:
  bool fits(std::int64_t live) const {
    return in_.options.memory_cap == 0 || live <= in_.options.memory_cap;
  }

  // Straight from one layout to another: by collectives, or by an exchange where that is faster.
  std::optional<Way> leg(const Layout& from, const Layout& to) {
    if (from == to) return Way{};
    if (++legs_ > kMostLegs || routes_.states > most_states_) return std::nullopt;
    const PlanContext part{from, to, to, in_.mesh, in_.axes, in_.options};
    std::optional<Way> best;
    const auto space = make_plan_space(from, to, in_.mesh, in_.axes, in_.options);
    Way general = way_of({exchange_move(part, space ? &*space : nullptr)});
    general.moves.front().why = "the pieces on both sides do not nest, or collectives are slower";
    if (space) {
      SearchRules rules;
      rules.memory_cap = in_.options.memory_cap;
      rules.brief = true;
      rules.faster_than = fits(general.peak) ? std::min(limit_, general.seconds) : limit_;
      const Searched found = search(*space, rules);
      routes_.states += found.states;
      if (found.way) best = way_of(moves_along(part, *space, *found.way));
    }
    ++routes_.states;
    if (!best || !fits(best->peak) || (fits(general.peak) && general.seconds < best->seconds))
      best = std::move(general);
    if (!fits(best->peak) || best->seconds >= limit_) return std::nullopt;
    return best;
  }

  // The legs that there are, and the one between them.
  void consider(std::vector<const Way*> before, const Layout& from, const Layout& to,
                std::vector<const Way*> after, std::vector<Layout> through) {
    double seconds = 0;
    for (const auto* list : {&before, &after})
      for (const Way* way : *list) seconds += way->seconds;
    if (seconds >= limit_) return;
    const auto middle = leg(from, to);
    if (!middle) return;
    before.push_back(&*middle);
    before.insert(before.end(), after.begin(), after.end());
    Way whole;
    whole.through = std::move(through);
    for (const Way* way : before) {
      whole.moves.insert(whole.moves.end(), way->moves.begin(), way->moves.end());
      whole.seconds += way->seconds;
      whole.peak = std::max(whole.peak, way->peak);
    }
    if (whole.seconds >= limit_) {
      routes_.others.push_back(std::move(whole));
      return;
    }
    limit_ = whole.seconds;
    if (routes_.best) routes_.others.push_back(*std::move(routes_.best));
    routes_.best = std::move(whole);
  }

  const PlanContext& in_;
  double limit_;
  int most_states_;
  int legs_ = 0;
  Routes routes_;
};

}  // namespace

Way way_of(std::vector<Move> moves) {
  Way way;
  for (const Move& m : moves) {
    way.seconds += m.seconds;
    way.peak = std::max(way.peak, m.live);
  }
  way.moves = std::move(moves);
  return way;
}

Routes find_routes(const PlanContext& in, double faster_than, int looked_at) {
  return Router(in, faster_than, looked_at).run();
}

}  // namespace heddle
