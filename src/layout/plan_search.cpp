#include "layout/plan_search.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <queue>

#include "heddle/hash.h"

namespace heddle {

namespace {

constexpr int kMostStates = 2'000;
constexpr int kMostSteps = 150'000;  // with many sub-axes each state has many ways on
// Of equally fast plans the one with fewer moves is taken.
constexpr double kPerMove = 1e-12;

struct StateHash {
  std::size_t operator()(const State& s) const {
    std::uint64_t words[2];
    static_assert(sizeof(State) == sizeof words);
    std::memcpy(words, s.data(), sizeof words);
    return hash_combine(hash_mix(words[0]), words[1]);
  }
};

struct SearchOutcome {
  std::optional<SearchResult> found;
  bool gave_up = false;  // there were too many states
};

class Search {
 public:
  Search(const PlanSpace& space, const SearchRules& rules)
      : space_(space), rules_(rules), n_(space.subs.size()) {}

  SearchOutcome run() {
    ids_.reserve(256);
    nodes_.reserve(256);
    add(space_.source, 0, -1, {});
    while (!open_.empty()) {
      auto [cost, id] = open_.top();
      open_.pop();
      if (nodes_[id].closed) continue;
      nodes_[id].closed = true;
      if (++closed_ > kMostStates || steps_ > kMostSteps) return {std::nullopt, true};
      if (nodes_[id].state == space_.target) return {path(id), false};
      expand(id);
    }
    return {std::nullopt, false};
  }

 private:
  struct Move {
    MoveKind kind;
    std::uint16_t subs;  // bit set
    double seconds;
    std::int64_t bytes, live;
  };
  struct Node {
    State state;
    double cost;
    int parent;
    Move move;
    std::int64_t local;
    bool closed;
  };

  void add(const State& state, double cost, int parent, const Move& move) {
    auto [it, fresh] = ids_.try_emplace(state, static_cast<int>(nodes_.size()));
    if (fresh) {
      nodes_.push_back({state, cost, parent, move, space_.local_bytes(state), false});
    } else {
      Node& old = nodes_[it->second];
      if (old.closed || old.cost <= cost) return;
      old.cost = cost;
      old.parent = parent;
      old.move = move;
    }
    const double ahead = rules_.guided ? estimate(state, nodes_[it->second].local) : 0;
    open_.emplace(cost + ahead, it->second);
  }

  // About what is left to do: each sub-axis for itself, with the bytes that there are now. Too much
  // where some can go together, so it guides and proves nothing.
  double estimate(const State& state, std::int64_t local) const {
    double seconds = 0;
    const auto bytes = static_cast<double>(local);
    for (std::size_t i = 0; i < n_; ++i) {
      const Role goal = space_.target[i];
      if (state[i] == goal || state[i] == kReplicated) continue;
      MoveKind kind = MoveKind::all_gather;
      if (state[i] == kPinnedSource)
        kind = goal == kPinnedTarget ? MoveKind::permute : MoveKind::broadcast;
      else if (state[i] == kPending)
        kind = space_.in_slot(goal) ? MoveKind::reduce_scatter : MoveKind::all_reduce;
      else if (space_.in_slot(goal))
        kind = MoveKind::all_to_all;
      seconds += collective_seconds(kind, space_.hops[i], bytes);
    }
    return seconds;
  }

  void step(int from, MoveKind kind, const State& to, std::uint16_t subs, double seconds,
            std::int64_t bytes) {
    ++steps_;
    if (rules_.direct_only && !is_direct(nodes_[from].state, to)) return;
    Move move{kind, subs, seconds, bytes, 0};
    move.live = nodes_[from].local + space_.local_bytes(to);
    if (from == 0) move.live += space_.source_halo;  // node 0 is the source
    std::int64_t peak = move.live;
    if (kind != MoveKind::slice && to == space_.target) {
      peak = std::max(peak, space_.last_copy_live);
      seconds += space_.last_copy;
    }
    if (rules_.memory_cap > 0 && peak > rules_.memory_cap) return;
    double cost = nodes_[from].cost + kPerMove;
    if (rules_.goal == SearchGoal::least_memory)
      cost = std::max(nodes_[from].cost, static_cast<double>(peak));
    else
      cost += seconds;
    add(to, cost, from, move);
  }

  // The first sub-axis that is not yet right becomes right, or replicated on the way there.
  bool is_direct(const State& from, const State& to) const {
    for (std::size_t i = 0; i < n_; ++i) {
      if (from[i] == space_.target[i]) {
        if (to[i] != from[i]) return false;
        continue;
      }
      if (to[i] != from[i]) return to[i] == space_.target[i] || to[i] == kReplicated;
      // A sub-axis may have to wait for its slot.
      if (space_.in_slot(space_.target[i]) && from[i] == kReplicated) continue;
      return false;
    }
    return false;
  }

  void expand(int id) {
    const State state = nodes_[id].state;
    const std::int64_t local = nodes_[id].local;
    std::uint64_t taken = 0;
    bool pending = false;
    for (std::size_t i = 0; i < n_; ++i) {
      if (space_.in_slot(state[i])) taken |= std::uint64_t{1} << state[i];
      pending = pending || state[i] == kPending;
    }
    for (std::size_t i = 0; i < n_; ++i) {
      const Role role = state[i];
      const Role goal = space_.target[i];
      const Hop& hop = space_.hops[i];
      const auto bit = static_cast<std::uint16_t>(1U << i);
      auto become = [&](MoveKind kind, Role to) {
        State next = state;
        next[i] = to;
        step(id, kind, next, bit, collective_seconds(kind, hop, static_cast<double>(local)),
             collective_received(kind, hop.extent, local));
      };
      auto into_free_slots = [&](MoveKind kind, bool only_goal) {
        for (std::size_t k = 0; k < space_.slots.size(); ++k)
          if (space_.slots[k].extent == hop.extent && (taken >> k & 1) == 0 &&
              (!only_goal || k == goal))
            become(kind, static_cast<Role>(k));
      };
      if (space_.in_slot(role)) {
        become(MoveKind::all_gather, kReplicated);
        if (!rules_.gather_only) into_free_slots(MoveKind::all_to_all, false);
      } else if (role == kReplicated) {
        into_free_slots(MoveKind::slice, rules_.gather_only);
        if (goal == kPinnedTarget) become(MoveKind::slice, goal);
        if (goal == kPendingTarget ? !pending : goal == kPending) become(MoveKind::mask, goal);
      } else if (role == kPending) {
        become(MoveKind::all_reduce, kReplicated);
        if (!rules_.gather_only) into_free_slots(MoveKind::reduce_scatter, false);
      } else if (role == kPinnedSource && goal != kPinnedSource) {
        become(MoveKind::broadcast, kReplicated);
        if (goal == kPinnedTarget) become(MoveKind::permute, goal);
      }
    }
    if (rules_.groups && !rules_.gather_only) expand_groups(id, state, local, taken);
  }

  // Several splits move at once to where the target has them, through slots that they free.
  void expand_groups(int id, const State& state, std::int64_t local, std::uint64_t taken) {
    std::vector<std::size_t> movable;
    for (std::size_t i = 0; i < n_; ++i)
      if (space_.in_slot(state[i]) && space_.in_slot(space_.target[i]) &&
          state[i] != space_.target[i])
        movable.push_back(i);
    if (movable.size() > 8) movable.resize(8);
    for (unsigned pick = 1; pick < 1U << movable.size(); ++pick) {
      if (std::has_single_bit(pick)) continue;
      State next = state;
      std::uint64_t left = 0;
      std::uint64_t entered = 0;
      std::uint16_t subs = 0;
      for (std::size_t m = 0; m < movable.size(); ++m) {
        if ((pick >> m & 1) == 0) continue;
        const std::size_t i = movable[m];
        left |= std::uint64_t{1} << state[i];
        entered |= std::uint64_t{1} << space_.target[i];
        next[i] = space_.target[i];
        subs |= static_cast<std::uint16_t>(1U << i);
      }
      if ((taken & ~left & entered) != 0) continue;
      group_step(id, next, subs, local, (left & entered) != 0);
    }
  }

  void group_step(int id, const State& next, std::uint16_t subs, std::int64_t local,
                  bool crossing) {
    std::vector<Hop> hops;
    std::vector<std::int64_t> fresh;  // extents of slots that the group did not hold before
    const State& state = nodes_[id].state;
    for (std::size_t i = 0; i < n_; ++i) {
      if ((subs >> i & 1) == 0) continue;
      hops.push_back(space_.hops[i]);
      bool held = false;
      for (std::size_t j = 0; j < n_; ++j)
        held = held || ((subs >> j & 1) != 0 && state[j] == next[i]);
      if (!held) fresh.push_back(space_.hops[i].extent);
    }
    double seconds = 0;
    if (fresh.empty()) {
      for (const Hop& h : hops)
        seconds =
            std::max(seconds, collective_seconds(MoveKind::permute, h, static_cast<double>(local)));
      step(id, MoveKind::permute, next, subs, seconds, local);
      return;
    }
    seconds = all_to_all_seconds(hops, static_cast<double>(local));
    std::int64_t all = 1;
    for (const Hop& h : hops) all *= h.extent;
    // Blocks that also change holders leave nothing in place at the worst holder.
    step(id, MoveKind::all_to_all, next, subs, seconds, crossing ? local : local - local / all);
  }

  SearchResult path(int id) const {
    SearchResult r;
    r.states = closed_;
    for (int at = id; nodes_[at].parent >= 0; at = nodes_[at].parent) {
      const Node& node = nodes_[at];
      Step s{node.move.kind, node.state, {}, node.move.seconds, node.move.bytes, node.move.live};
      for (std::size_t i = 0; i < n_; ++i)
        if ((node.move.subs >> i & 1) != 0) s.subs.push_back(i);
      r.steps.insert(r.steps.begin(), std::move(s));
      r.seconds += node.move.seconds;
      r.peak = std::max(r.peak, node.move.live);
    }
    return r;
  }

  const PlanSpace& space_;
  const SearchRules& rules_;
  std::size_t n_;
  std::vector<Node> nodes_;
  std::unordered_map<State, int, StateHash> ids_;
  using Open = std::pair<double, int>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
  int closed_ = 0;
  int steps_ = 0;
};

}  // namespace

std::optional<SearchResult> search(const PlanSpace& space, const SearchRules& rules) {
  SearchOutcome all = Search(space, rules).run();
  if (!all.gave_up || rules.direct_only) return all.found;
  // Too many ways: take the better of a search that heads for the target and one that looks only at
  // steps which bring a sub-axis where it is to be. The latter always ends.
  SearchRules less = rules;
  less.direct_only = true;
  std::optional<SearchResult> best = Search(space, less).run().found;
  if (rules.goal == SearchGoal::fastest) {
    less.direct_only = false;
    less.guided = true;
    const auto guided = Search(space, less).run().found;
    if (guided && (!best || guided->seconds < best->seconds)) best = guided;
  }
  if (best) best->exhaustive = false;
  return best;
}

}  // namespace heddle
