// Loops and branches: their regions become lists of steps inside of a step.
#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/trips.h"
#include "runtime/assembler.h"

namespace heddle::runtime {

namespace {

void append(std::vector<SlotId>& to, const std::vector<SlotId>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// What a list of steps touches, seen from outside.
void add_effects(const StepList& list, Step& step) {
  for (const Step& inner : list.steps) {
    append(step.reads, inner.reads);
    append(step.writes, inner.writes);
  }
}

void deduplicate(std::vector<SlotId>& slots) {
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
}

}  // namespace

// The memory that a carried value begins in: the operand's own where nobody else needs that.
SlotId Assembler::carried_slot(const Op& op, std::size_t i, std::size_t number,
                               std::unordered_set<SlotId>& taken) {
  const ValueId operand = program_.operands(op)[i];
  const Type& type = program_.type_of(operand);
  const SlotId from = slot(operand);
  const auto wanted = scope_.targets.find(lifetimes_.root(program_.result(op, i)));
  const bool is_output = wanted != scope_.targets.end() && wanted->second.any_place;
  const bool mine = lifetimes_.dies_at(operand, scope_.region, number) && !slots[from].pinned &&
                    !is_under_way(from) && slots[from].kind != SlotKind::constant &&
                    (slots[from].kind != SlotKind::argument || slots[from].donated);
  if (mine && taken.insert(from).second) {
    if (is_output && slots[from].kind == SlotKind::arena) slots[from].kind = SlotKind::fresh;
    slots[from].pinned = true;
    return from;
  }
  const SlotId to =
      is_output ? wanted->second.slot : new_arena(program_.result(op, i), type.bytes());
  slots[to].pinned = true;
  copy(from, to, type);
  return to;
}

void Assembler::while_loop(const Op& op, std::size_t number) {
  const auto regions = program_.regions(op);
  const std::size_t count = op.operand_count;
  std::vector<SlotId> now(count, kNone), next(count, kNone);
  std::unordered_set<SlotId> taken;
  // Values that the loop takes from around it, unchanged, are nobody's to overwrite.
  for (ValueId v : captured_values(program_, op)) taken.insert(slot(v));
  for (std::size_t i = 0; i < count; ++i)
    if (is_invariant(program_, op, i)) taken.insert(slot(program_.operands(op)[i]));
  for (std::size_t i = 0; i < count; ++i) {
    if (is_invariant(program_, op, i)) continue;
    now[i] = carried_slot(op, i, number, taken);
    const Slot& first = slots[now[i]];
    next[i] = slots.add({.kind = first.kind == SlotKind::arena ? SlotKind::arena : SlotKind::fresh,
                         .bytes = first.bytes,
                         .value = program_.result(op, i),
                         .pinned = true});
    for (RegionId r : regions) set_slot(program_.region(r).args[i], now[i]);
  }
  slots.next_step();
  for (SlotId s : now)
    if (s != kNone) slots.touch(s);
  slots.begin_loop();

  const std::size_t info = infos.size();
  infos.push_back(info_of(op, "while"));
  infos.back().depth = scope_.depth;
  LoopStep loop;
  loop.trips = trips_of(program_, op);
  loop.exact_trips = exact_trips_of(program_, op);
  loop.condition = region({.region = regions[0], .targets = {Target{}}, .depth = scope_.depth + 1});
  loop.predicate = slot(program_.operands(program_.op(program_.region(regions[0]).ops.back()))[0]);
  RegionTask body{.region = regions[1], .targets = {}, .depth = scope_.depth + 1};
  for (std::size_t i = 0; i < count; ++i)
    body.targets.push_back({.slot = next[i], .in_place = now[i]});
  loop.body = region(body);
  const Op& end = program_.op(program_.region(regions[1]).ops.back());
  slots.next_step();
  for (std::size_t i = 0; i < count; ++i) {
    if (now[i] == kNone) continue;
    loop.carried.push_back(now[i]);
    slots.touch(now[i]);
    set_slot(program_.result(op, i), now[i]);
    if (slot(program_.operands(end)[i]) == now[i]) continue;
    loop.swaps.emplace_back(now[i], next[i]);
    slots[now[i]].partner = next[i];
    slots.touch(now[i]);
  }
  slots.touch(loop.predicate);
  slots.end_loop();

  Step step;
  step.info = static_cast<std::uint32_t>(info);
  add_effects(loop.condition, step);
  add_effects(loop.body, step);
  step.reads.push_back(loop.predicate);
  for (const auto& [a, b] : loop.swaps) {
    scope_.list.moved.insert(scope_.list.moved.end(), {a, b});
    step.writes.insert(step.writes.end(), {a, b});
  }
  deduplicate(step.reads);
  deduplicate(step.writes);
  step.work = std::move(loop);
  push(std::move(step));
}

void Assembler::branches(const Op& op) {
  const bool is_case = op.def->control == Control::choice;
  BranchStep branch{.index = slot(program_.operands(op)[0]), .is_case = is_case, .branches = {}};
  slots.next_step();
  slots.touch(branch.index);
  std::vector<Target> targets;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId result = program_.result(op, i);
    const auto wanted = scope_.targets.find(lifetimes_.root(result));
    const SlotId to = wanted != scope_.targets.end()
                          ? wanted->second.slot
                          : new_arena(result, program_.type_of(result).bytes());
    targets.push_back({.slot = to});
  }
  const std::size_t info = infos.size();
  infos.push_back(info_of(op, is_case ? "case" : "if"));
  infos.back().depth = scope_.depth;
  Step step;
  step.info = static_cast<std::uint32_t>(info);
  step.reads.push_back(branch.index);
  for (RegionId r : program_.regions(op)) {
    branch.branches.push_back(region({.region = r, .targets = targets, .depth = scope_.depth + 1}));
    add_effects(branch.branches.back(), step);
  }
  slots.next_step();
  for (std::size_t i = 0; i < op.result_count; ++i) {
    slots.touch(targets[i].slot);
    set_slot(program_.result(op, i), targets[i].slot);
  }
  deduplicate(step.reads);
  deduplicate(step.writes);
  step.work = std::move(branch);
  push(std::move(step));
}

}  // namespace heddle::runtime
