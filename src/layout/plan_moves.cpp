#include "layout/plan_moves.h"

namespace heddle {

namespace {

Move local_copy(const PlanContext& in, const Layout& from, const Layout& to, std::string why) {
  Move m;
  m.kind = MoveKind::local_copy;
  m.from = from;
  m.to = to;
  m.live = in.bytes_of(from) + in.bytes_of(to);
  m.seconds = static_cast<double>(in.bytes_of(to)) / in.mesh.local_bandwidth();
  m.why = std::move(why);
  return m;
}

std::string why(const PlanContext& in, const PlanSpace& space, const Step& s, const State& before) {
  const std::size_t i = s.subs.front();
  const Role now = s.to[i];
  const Role goal = space.target[i];
  const std::string axis = in.axes[space.subs[i].axis].name;
  if (now != goal) {
    if (space.in_slot(now))
      return fmt::format("less to move while {} splits dimension {}", axis, space.slots[now].dim);
    return fmt::format(
        "on the way: {} is to {} later", axis,
        space.in_slot(goal) ? fmt::format("split dimension {}", space.slots[goal].dim) : "change");
  }
  if (s.subs.size() > 1) return "the target splits other dimensions over these axes";
  if (space.in_slot(goal))
    return fmt::format("the target splits dimension {} over {}", space.slots[goal].dim, axis);
  if (goal == kReplicated)
    return before[i] == kPending ? fmt::format("the target wants finished values on every {}", axis)
                                 : fmt::format("the target wants a copy on every {}", axis);
  if (goal == kPinnedTarget) return fmt::format("the target has data at one position of {}", axis);
  return fmt::format("the target has a pending {} over {}", name(space.target_reduce), axis);
}

}  // namespace

std::vector<Move> moves_along(const PlanContext& in, const PlanSpace& space,
                              const SearchResult& found) {
  std::vector<Move> moves;
  Layout at = in.source;
  if (space.repad_source) {
    moves.push_back(local_copy(in, at, space.layout_of(space.source), "blocks of another padding"));
    at = moves.back().to;
  }
  State before = space.source;
  for (const Step& s : found.steps) {
    Move m;
    m.kind = s.kind;
    m.from = at;
    m.to = space.layout_of(s.to);
    m.bytes = s.bytes;
    m.seconds = s.seconds;
    m.live = s.live;
    double slowest = 0;
    for (std::size_t i : s.subs) {
      m.over.push_back(space.subs[i]);
      const double pace = 1 / space.hops[i].link.bandwidth;
      if (pace > slowest) {
        slowest = pace;
        m.medium = space.hops[i].medium;
      }
    }
    m.why = why(in, space, s, before);
    before = s.to;
    at = m.to;
    moves.push_back(std::move(m));
  }
  // Copies in a halo apart, the data may be there already.
  if (without_halo(at) == in.core_target) return moves;
  // A slice copies anyway, so it can write straight into the target's arrangement.
  if (!moves.empty() && moves.back().kind == MoveKind::slice)
    moves.back().to = in.core_target;
  else
    moves.push_back(local_copy(in, at, in.core_target, "the target arranges its memory so"));
  return moves;
}

}  // namespace heddle
