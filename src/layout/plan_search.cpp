#include "layout/plan_search.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <queue>

#include "heddle/hash.h"
#include "layout/plan_ahead.h"

namespace heddle {

namespace {

// How much work a search may be, in steps from one state to another: of the one that looks at
// everything, and of each that makes do with less when that was too much.
constexpr int kMostSteps = 2'200;
constexpr int kFewerSteps = 1'200;
constexpr int kFewSteps = 200;
// Of equally fast plans the one with fewer moves is taken.
constexpr double kPerMove = 1e-12;
constexpr double kTooSlow = 1e300;
// So many sub-axes move together in every combination; of more, only some are tried.
constexpr std::size_t kAllCombinations = 4;

std::uint64_t hash_of(const State& s) {
  std::uint64_t words[2];
  static_assert(sizeof(State) == sizeof words);
  std::memcpy(words, s.data(), sizeof words);
  return hash_combine(hash_mix(words[0]), words[1]);
}

bool same(const State& a, const State& b) {
  return std::bit_cast<std::array<std::uint64_t, 2>>(a) ==
         std::bit_cast<std::array<std::uint64_t, 2>>(b);
}

// Numbers of states, by open addressing: a search has hundreds of them and little time.
class StateTable {
 public:
  StateTable() : cells_(512, -1) {}

  // The cell of the state: its number, or -1 and free to be given one.
  template <typename Nodes>
  int& at(const State& state, const Nodes& nodes) {
    if (2 * nodes.size() >= cells_.size()) grow(nodes);
    return cells_[find(state, nodes)];
  }

 private:
  template <typename Nodes>
  std::size_t find(const State& state, const Nodes& nodes) const {
    std::size_t at = hash_of(state) & (cells_.size() - 1);
    while (cells_[at] >= 0 && !same(nodes[static_cast<std::size_t>(cells_[at])].state, state))
      at = (at + 1) & (cells_.size() - 1);
    return at;
  }
  template <typename Nodes>
  void grow(const Nodes& nodes) {
    cells_.assign(cells_.size() * 2, -1);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      cells_[find(nodes[i].state, nodes)] = static_cast<int>(i);
  }
  std::vector<int> cells_;
};

// What a search takes for the rest of a way: with the first it finds the cheapest.
enum class Guide : std::uint8_t { at_least, about, one_by_one };

// What one pass over the space looks at.
struct Pass {
  int steps = kMostSteps;
  double less_than = kTooSlow;  // a way that is no faster than this is of no use
  double weight = 1;            // above 1: heads for the target, and may miss the cheapest
  Guide guide = Guide::at_least;
  bool direct = false;  // sub-axes in order, each straight to its role: never many states
  bool exact() const { return guide == Guide::at_least; }
};

struct SearchOutcome {
  std::optional<SearchResult> found;
  int states = 0;
  bool gave_up = false;  // there were too many ways
  double cost = 0;       // of the found way, the last copy included
};

class Search {
 public:
  Search(const PlanSpace& space, const Ahead& ahead, const SearchRules& rules, const Pass& pass)
      : space_(space), ahead_(ahead), rules_(rules), pass_(pass), n_(space.subs.size()) {
    for (std::size_t i = 0; i < n_; ++i)
      if (space.in_slot(space.target[i])) wanted_ |= std::uint64_t{1} << space.target[i];
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < space.slots.size(); ++k)
        if (fits(i, k)) {
          if (wanted(k))
            wanted_by_size_[i].push_back(static_cast<Role>(k));
          else
            ++elsewhere_[i];
        }
  }

  SearchOutcome run() {
    nodes_.reserve(256);
    add(seen(space_.source), space_.local_elements(space_.source), 0, -1, {});
    while (!open_.empty()) {
      const auto [rank, id] = open_.top();
      open_.pop();
      if (nodes_[id].closed || rank > nodes_[id].rank) continue;
      nodes_[id].closed = true;
      ++closed_;
      if (steps_ > pass_.steps) return {std::nullopt, closed_, true, 0};
      if (same(nodes_[id].state, space_.target))
        return {path(id), closed_, skipped_, nodes_[id].cost};
      expand(id);
    }
    return {std::nullopt, closed_, skipped_, 0};
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
    double cost, rank;
    int parent;
    Move move;
    std::int64_t elements;  // on one holder
    bool closed;
  };

  bool fits(std::size_t sub, std::size_t slot) const {
    return space_.slots[slot].extent == space_.hops[sub].extent;
  }
  bool wanted(std::size_t slot) const { return (wanted_ >> slot & 1) != 0; }

  // The state with one role for all slots that the target does not split.
  State seen(State state) const {
    for (std::size_t i = 0; i < n_; ++i)
      if (space_.in_slot(state[i]) && !wanted(state[i])) state[i] = kElsewhere;
    return state;
  }

  std::int64_t bytes_of(std::int64_t elements) const {
    return static_cast<std::int64_t>((static_cast<__int128>(elements) * space_.element_bits + 7) /
                                     8);
  }

  double rank_of(const State& state, std::int64_t elements, double cost) const {
    if (rules_.goal == SearchGoal::least_memory) return cost;
    const auto bytes = static_cast<double>(bytes_of(elements));
    if (cost >= pass_.less_than) return kTooSlow;
    switch (pass_.guide) {
      case Guide::at_least: {
        const double whole = cost + ahead_.at_least(state, bytes);
        return whole < pass_.less_than ? whole : kTooSlow;
      }
      case Guide::about:
        return cost + pass_.weight * ahead_.about(state, bytes);
      case Guide::one_by_one:
        return cost + ahead_.one_by_one(state, bytes);
    }
    return cost;
  }

  void add(const State& state, std::int64_t elements, double cost, int parent, const Move& move) {
    int& cell = ids_.at(state, nodes_);
    if (cell >= 0 && nodes_[cell].cost <= cost) return;
    const double rank = rank_of(state, elements, cost);
    if (rank >= kTooSlow) return;
    if (cell < 0) {
      cell = static_cast<int>(nodes_.size());
      nodes_.push_back({state, cost, rank, parent, move, elements, false});
    } else {
      Node& old = nodes_[cell];
      old = {state, cost, rank, parent, move, elements, false};
    }
    open_.emplace(rank, cell);
  }

  void step(int from, MoveKind kind, const State& to, std::int64_t elements, std::uint16_t subs,
            double seconds, std::int64_t bytes) {
    ++steps_;
    if (pass_.direct && !is_direct(nodes_[from].state, to)) return;
    Move move{kind, subs, seconds, bytes, 0};
    move.live = bytes_of(nodes_[from].elements) + bytes_of(elements);
    if (from == 0) move.live += space_.source_halo;  // node 0 is the source
    std::int64_t peak = move.live;
    if (kind != MoveKind::slice && same(to, space_.target)) {
      peak = std::max(peak, space_.last_copy_live);
      seconds += space_.last_copy;
    }
    if (rules_.memory_cap > 0 && peak > rules_.memory_cap) return;
    double cost = nodes_[from].cost + kPerMove;
    if (rules_.goal == SearchGoal::least_memory)
      cost = std::max(nodes_[from].cost, static_cast<double>(peak));
    else
      cost += seconds;
    add(to, elements, cost, from, move);
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
      if (splits(space_.target[i]) && from[i] == kReplicated) continue;
      return false;
    }
    return false;
  }

  void expand(int id) {
    const State state = nodes_[id].state;
    const std::int64_t elements = nodes_[id].elements;
    const std::int64_t local = bytes_of(elements);
    std::uint64_t taken = 0;
    bool pending = false;
    for (std::size_t i = 0; i < n_; ++i) {
      if (space_.in_slot(state[i])) taken |= std::uint64_t{1} << state[i];
      pending = pending || state[i] == kPending;
    }
    const std::size_t first = !pass_.exact() ? cuttable(state, taken) : n_;
    for (std::size_t i = 0; i < n_; ++i) {
      if (first < n_ && i != first) continue;
      const Role role = state[i];
      const Role goal = space_.target[i];
      const Hop& hop = space_.hops[i];
      const auto bit = static_cast<std::uint16_t>(1U << i);
      auto become = [&](MoveKind kind, Role to) {
        State next = state;
        next[i] = to;
        std::int64_t after = elements;
        if (splits(role) && !splits(to)) after *= hop.extent;
        if (!splits(role) && splits(to)) after /= hop.extent;
        step(id, kind, next, after, bit, collective_seconds(kind, hop, static_cast<double>(local)),
             collective_received(kind, hop.extent, local));
      };
      auto into_free_slots = [&](MoveKind kind, bool only_goal) {
        const bool room = role != kElsewhere && has_room(state, i);
        if (room && !only_goal && first == n_) become(kind, kElsewhere);
        for (const Role k : wanted_by_size_[i])
          if ((taken >> k & 1) == 0 && (k == goal || (!only_goal && (pass_.exact() || !room))))
            become(kind, k);
      };
      if (splits(role)) {
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
    if (rules_.groups && !rules_.gather_only && first == n_) expand_groups(id, state, taken);
  }

  // A copy that can be cut as the target has it: what is left to do only becomes cheaper.
  std::size_t cuttable(const State& state, std::uint64_t taken) const {
    for (std::size_t i = 0; i < n_; ++i)
      if (state[i] == kReplicated && splits(space_.target[i]) &&
          (taken >> space_.target[i] & 1) == 0)
        return i;
    return n_;
  }

  // A slot for the sub-axis that the target does not split.
  bool has_room(const State& state, std::size_t sub) const {
    int used = 0;
    for (std::size_t j = 0; j < n_; ++j)
      if (state[j] == kElsewhere && space_.hops[j].extent == space_.hops[sub].extent) ++used;
    return used < elsewhere_[sub];
  }

  // Several splits move at once to where the target has them, through slots that they free.
  void expand_groups(int id, const State& state, std::uint64_t taken) {
    std::uint32_t movable = 0;
    for (std::size_t i = 0; i < n_; ++i)
      if (splits(state[i]) && splits(space_.target[i]) && state[i] != space_.target[i])
        movable |= 1U << i;
    if (static_cast<std::size_t>(std::popcount(movable)) <= kAllCombinations) {
      for (std::uint32_t pick = movable; pick != 0; pick = (pick - 1) & movable)
        group_step(id, state, taken, static_cast<std::uint16_t>(pick));
      return;
    }
    skipped_ = true;
    group_step(id, state, taken, static_cast<std::uint16_t>(movable));
    for (std::size_t i = 0; i < n_; ++i)
      if ((movable >> i & 1) != 0)
        group_step(id, state, taken, with_those_in_the_way(state, i, movable));
  }

  // The sub-axis, the one that splits where it is to go, the one where that is to go, and so on.
  std::uint16_t with_those_in_the_way(const State& state, std::size_t sub,
                                      std::uint32_t movable) const {
    std::uint32_t group = 1U << sub;
    for (std::uint32_t before = 0; before != group;) {
      before = group;
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < n_; ++j)
          if ((before >> i & 1) != 0 && state[j] == space_.target[i]) group |= 1U << j;
    }
    return static_cast<std::uint16_t>(group & movable);
  }

  void group_step(int id, const State& state, std::uint64_t taken, std::uint16_t subs) {
    if (std::has_single_bit(subs)) return;
    State next = state;
    std::uint64_t left = 0;
    std::uint64_t entered = 0;
    std::array<Hop, kMaxSubAxes> hops;
    std::size_t count = 0;
    std::int64_t all = 1;
    for (std::size_t i = 0; i < n_; ++i) {
      if ((subs >> i & 1) == 0) continue;
      if (state[i] != kElsewhere) left |= std::uint64_t{1} << state[i];
      entered |= std::uint64_t{1} << space_.target[i];
      next[i] = space_.target[i];
      hops[count++] = space_.hops[i];
      all *= space_.hops[i].extent;
    }
    if ((taken & ~left & entered) != 0) return;
    const std::int64_t elements = nodes_[id].elements;
    const std::int64_t local = bytes_of(elements);
    const auto bytes = static_cast<double>(local);
    if ((entered & ~left) == 0) {  // only slots that the group held before
      double seconds = 0;
      for (std::size_t h = 0; h < count; ++h)
        seconds = std::max(seconds, collective_seconds(MoveKind::permute, hops[h], bytes));
      step(id, MoveKind::permute, next, elements, subs, seconds, local);
      return;
    }
    // Blocks that also change holders leave nothing in place at the worst holder.
    step(id, MoveKind::all_to_all, next, elements, subs,
         all_to_all_seconds({hops.data(), count}, bytes),
         (left & entered) != 0 ? local : local - local / all);
  }

  SearchResult path(int id) const {
    std::vector<int> way;
    for (int at = id; nodes_[at].parent >= 0; at = nodes_[at].parent) way.push_back(at);
    SearchResult r;
    State state = space_.source;
    for (std::size_t k = way.size(); k-- > 0;) {
      const Node& node = nodes_[way[k]];
      Step s{node.move.kind, {}, {}, node.move.seconds, node.move.bytes, node.move.live};
      for (std::size_t i = 0; i < n_; ++i)
        if ((node.move.subs >> i & 1) != 0) s.subs.push_back(i);
      for (const std::size_t i : s.subs)
        state[i] = node.state[i] == kElsewhere ? free_slot(state, i) : node.state[i];
      s.to = state;
      r.steps.push_back(std::move(s));
      r.seconds += node.move.seconds;
      r.peak = std::max(r.peak, node.move.live);
    }
    return r;
  }

  // The first slot for the sub-axis that nothing splits, and the target neither.
  Role free_slot(const State& state, std::size_t sub) const {
    for (std::size_t k = 0; k < space_.slots.size(); ++k)
      if (fits(sub, k) && !wanted(k) &&
          std::find(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(n_), k) ==
              state.begin() + static_cast<std::ptrdiff_t>(n_))
        return static_cast<Role>(k);
    HEDDLE_CHECK(false, "the search found room for sub-axis {} where there is none", sub);
  }

  const PlanSpace& space_;
  const Ahead& ahead_;
  const SearchRules& rules_;
  const Pass pass_;
  std::size_t n_;
  std::uint64_t wanted_ = 0;                                   // slots that the target splits
  std::array<std::vector<Role>, kMaxSubAxes> wanted_by_size_;  // those that a sub-axis could split
  std::array<int, kMaxSubAxes> elsewhere_{};                   // others that a sub-axis could split
  std::vector<Node> nodes_;
  StateTable ids_;
  using Open = std::pair<double, int>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
  int closed_ = 0;
  int steps_ = 0;
  bool skipped_ = false;  // a state had more ways on than were tried
};

}  // namespace

Searched search(const PlanSpace& space, const SearchRules& rules) {
  const Ahead ahead(space);
  const Pass all{.steps = rules.brief ? kFewSteps : kMostSteps, .less_than = rules.faster_than};
  SearchOutcome best = Search(space, ahead, rules, all).run();
  Searched done{std::nullopt, best.states, !best.gave_up};
  if (!best.found && best.gave_up && !rules.brief) {
    // Too many ways. One that looks only at steps which bring a sub-axis where it is to be always
    // ends; then searches that head for the target, each for something faster.
    std::vector<Pass> passes = {{.steps = kMostSteps, .direct = true}};
    if (rules.goal == SearchGoal::fastest)
      passes.insert(passes.end(), {{.steps = kFewerSteps, .guide = Guide::one_by_one},
                                   {.steps = kFewerSteps, .weight = 1.5, .guide = Guide::about},
                                   {.steps = kFewerSteps, .weight = 4, .guide = Guide::about}});
    int guided = 0;  // passes that found something
    for (Pass& pass : passes) {
      if (pass.weight > 2 && guided > 0) break;
      pass.less_than = best.found ? best.cost : rules.faster_than;
      SearchOutcome more = Search(space, ahead, rules, pass).run();
      done.states += more.states;
      if (!more.found) continue;
      guided += pass.direct ? 0 : 1;
      best = std::move(more);
    }
  }
  done.way = std::move(best.found);
  return done;
}

}  // namespace heddle
