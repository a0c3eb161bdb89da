// What a block keeps for later stages, and in which order stages come.
#include "cost/fitted.h"
#include "stitch/cost.h"
#include "stitch/group.h"
#include "stitch/loop_planner.h"
#include "stitch/reach.h"

namespace heddle {

std::int64_t LoopPlanner::inner_elements(const AxisList& axes) const {
  std::int64_t n = 1;
  for (int a : axes) {
    const GroupAxis& x = plan_.axes[static_cast<std::size_t>(a)];
    n *= x.outer < 0 ? x.size : x.block;
  }
  return n;
}

// A reduction that knows nothing of an outer axis is done again by every block along it.
Verdict LoopPlanner::check_repeats() const {
  std::int64_t useful = 0;
  for (ValueId v : group_.outputs) useful += elements(v);
  for (const Reduction& r : plan_.reductions) {
    const AxisList own = r.loops;
    std::int64_t again = product(own);
    for (int a : plan_.outer) {
      const GroupAxis& x = plan_.axes[static_cast<std::size_t>(a)];
      if (!has(own, a)) again *= (x.size + x.block - 1) / x.block;
    }
    if (again > std::max(cost::kFewAgain, 2 * (product(own) + useful)))
      return Reason{"every block would do the same reduction again"};
  }
  return yes();
}

int LoopPlanner::compute_level(ValueId value) {
  if (auto it = plan_.levels.find(value); it != plan_.levels.end()) return it->second;
  int level = 0;
  const OpId id = program_.value(value).op;
  if (members_.contains(id))
    for (ValueId v : program_.operands(program_.op(id))) {
      const int below = compute_level(v);
      level = std::max(level, plan_.kept.contains(v) ? below + 1 : below);
    }
  plan_.levels[value] = level;
  return level;
}

// Scans and scatters whose results nobody in the group uses leave them right where they belong.
bool LoopPlanner::is_kept(const Reduction& r) const {
  if (!r.scans && !r.scatters) return true;
  const Op& op = program_.op(r.op);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = program_.result(op, i);
    const auto users = users_.find(v);
    if (!outputs_.contains(v) || (users != users_.end() && !users->second.empty())) return true;
  }
  return false;
}

Verdict LoopPlanner::keep_values() {
  for (const Reduction& r : plan_.reductions) {
    if (r.crosses || !is_kept(r)) continue;
    const Op& op = program_.op(r.op);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      const std::int64_t bytes =
          inner_elements(plan_.axes_of(v)) * byte_size(program_.type_of(v).dtype);
      if (r.scatters && bytes > machine_.near_cache)
        return reason("a block would have to keep {} bytes of a scatter", bytes);
      plan_.kept[v] = {.value = v, .axes = plan_.axes_of(v), .level = 0, .is_tile = false};
    }
  }
  for (ValueId v : repeated_values(program_, group_, plan_))
    plan_.kept[v] = {.value = v, .axes = plan_.axes_of(v), .level = 0, .is_tile = true};
  for (OpId id : group_.ops)
    for (std::size_t i = 0; i < program_.op(id).result_count; ++i)
      compute_level(program_.result(program_.op(id), i));
  keep_tiles();
  for (auto& [v, kept] : plan_.kept) kept.level = plan_.levels.at(v);
  return yes();
}

// A block must have what it keeps where it needs it; a tile can be computed again instead.
Verdict LoopPlanner::check_reach() {
  while (true) {
    const ValueId missing = out_of_reach(program_, group_, plan_);
    if (missing == kNone) return yes();
    if (!plan_.kept.at(missing).is_tile)
      return Reason{"a block would need what another block computes"};
    plan_.kept.erase(missing);
  }
}

// Bytes of what the tail reads, beside results of reductions.
std::int64_t LoopPlanner::tail_bytes() const {
  std::unordered_set<ValueId> seen;
  std::vector<ValueId> open;
  const auto need = [&](const Op& op) {
    for (ValueId v : program_.operands(op))
      if (seen.insert(v).second) open.push_back(v);
  };
  for (OpId id : plan_.tail) need(program_.op(id));
  std::int64_t bytes = 0;
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    const OpId maker = program_.value(v).op;
    const bool is_read = !members_.contains(maker) || plan_.read_back.contains(v);
    if (is_read) bytes += memory_bytes(program_, v);
    if (is_read || plan_.tail.contains(maker) || plan_.reduction(maker) != nullptr) continue;
    need(program_.op(maker));
  }
  return bytes;
}

// The gradient that a norm gets may be a sum of two, chosen by a mask: where it is written for
// others in any case, the tail reads it in place of what it was made of.
void LoopPlanner::choose_read_back() {
  if (plan_.tail.empty()) return;
  for (ValueId v : plan_.stores) {
    const OpId maker = program_.value(v).op;
    if (is_reducer(program_, program_.op(maker)) || is_complex(program_.type_of(v).dtype)) continue;
    const std::int64_t before = tail_bytes();
    plan_.read_back.insert(v);
    if (tail_bytes() >= before) plan_.read_back.erase(v);
  }
}

// Values with an expensive function in them that stages of several levels need are kept, not
// computed again, where a block has the room.
void LoopPlanner::keep_tiles() {
  if (!group_.choice.keep_heavy) return;
  std::unordered_map<ValueId, std::unordered_set<int>> stages;  // levels at which it is computed
  std::unordered_map<ValueId, bool> heavy;
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    bool any = op.def->cls == OpClass::heavy;
    for (ValueId v : program_.operands(op)) any |= heavy[v] && !plan_.kept.contains(v);
    for (std::size_t i = 0; i < op.result_count; ++i) heavy[program_.result(op, i)] = any;
  }
  for (std::size_t n = group_.ops.size(); n-- > 0;) {
    const OpId id = group_.ops[n];
    if (plan_.tail.contains(id)) continue;
    const Op& op = program_.op(id);
    std::unordered_set<int> needed;
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      if (outputs_.contains(v) || plan_.kept.contains(v) || is_reducer(program_, op))
        stages[v].insert(plan_.levels.at(v));
      needed.insert(stages[v].begin(), stages[v].end());
    }
    for (ValueId v : program_.operands(op)) {
      if (plan_.kept.contains(v)) continue;
      stages[v].insert(needed.begin(), needed.end());
    }
  }
  std::vector<ValueId> wanted;
  for (OpId id : group_.ops) {
    const Op& op = program_.op(id);
    if (is_reducer(program_, op) || op.result_count != 1 || plan_.tail.contains(id)) continue;
    const ValueId v = program_.result(op, 0);
    if (!heavy[v] || stages[v].size() < 2) continue;
    bool parts = false;  // some user needs it at fewer levels: behind it the ways part
    for (OpId user : users_[v])
      parts |= stages[program_.result(program_.op(user), 0)] != stages[v] ||
               is_reducer(program_, program_.op(user));
    if (parts || outputs_.contains(v)) wanted.push_back(v);
  }
  for (ValueId v : group_.inputs)
    if (plan_.space.contains(v) && stages[v].size() > 1 && is_strided(v)) wanted.push_back(v);
  keep_wanted(wanted);
}

// All of them where they fit one after the other, since later ones make earlier ones needless; else
// the first that fit together.
void LoopPlanner::keep_wanted(const std::vector<ValueId>& wanted) {
  const auto bytes = [&](ValueId v) {
    return inner_elements(plan_.axes_of(v)) * byte_size(program_.type_of(v).dtype);
  };
  std::int64_t all = 0;
  for (ValueId v : wanted) {
    all += bytes(v);
    plan_.kept[v] = {.value = v, .axes = plan_.axes_of(v), .level = 0, .is_tile = true};
  }
  if (all <= machine_.near_cache || most_kept_at_once(wanted) <= machine_.near_cache) return;
  std::int64_t room = machine_.near_cache;
  for (ValueId v : wanted) {
    if (bytes(v) > room)
      plan_.kept.erase(v);
    else
      room -= bytes(v);
  }
}

// Bytes of the most tiles that are needed at one time, each from the op that makes it to the last
// one that reads it.
std::int64_t LoopPlanner::most_kept_at_once(const std::vector<ValueId>& tiles) const {
  std::unordered_map<ValueId, std::size_t> last;  // op that needs it, by its place in the group
  for (std::size_t n = group_.ops.size(); n-- > 0;) {
    const Op& op = program_.op(group_.ops[n]);
    std::size_t until = n;
    // What is not kept is computed where its own users need it.
    if (op.result_count == 1 && !plan_.kept.contains(program_.result(op, 0)))
      if (const auto user = last.find(program_.result(op, 0)); user != last.end())
        until = user->second;
    for (ValueId v : program_.operands(op)) last[v] = std::max(last[v], until);
  }
  std::unordered_map<OpId, std::size_t> place;
  for (std::size_t n = 0; n < group_.ops.size(); ++n) place[group_.ops[n]] = n;
  std::vector<std::int64_t> change(group_.ops.size() + 1, 0);
  for (ValueId v : tiles) {
    const auto made = place.find(program_.value(v).op);
    const std::int64_t bytes =
        inner_elements(plan_.axes_of(v)) * byte_size(program_.type_of(v).dtype);
    change[made == place.end() ? 0 : made->second] += bytes;
    change[last[v] + 1] -= bytes;
  }
  std::int64_t now = 0, most = 0;
  for (std::int64_t c : change) most = std::max(most, now += c);
  return most;
}

// Of an input a block reads many short rows that lie apart by a multiple of a large power of two:
// they fall on the same few places of a cache, and would be gone when they are read again.
bool LoopPlanner::is_strided(ValueId v) const {
  const AxisList axes = plan_.axes_of(v);
  if (axes.empty()) return false;
  const GroupAxis& last = plan_.axes[static_cast<std::size_t>(axes.back())];
  const std::int64_t size = byte_size(program_.type_of(v).dtype);
  return last.outer >= 0 && last.block * size <= cost::kShortRowBytes &&
         last.size * size % cost::kPowerOfTwo == 0 &&
         inner_elements(axes) / last.block >= cost::kManyRows;
}

}  // namespace heddle
