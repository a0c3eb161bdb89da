#include "schedule/overlap.h"

#include <algorithm>

#include "heddle/index_rule.h"
#include "heddle/schedule.h"
#include "schedule/copier.h"
#include "schedule/op_set.h"
#include "schedule/worth.h"

namespace heddle {

namespace {

// Ops that are looked at on either side of a collective.
constexpr std::size_t kMostLooks = 400;
// Ranks come late, and figures are what they are: work for so many times as long is found.
constexpr double kAmple = 2;

// The order of one region's ops.
class Order {
 public:
  Order(const Program& program, RegionId region, const Mesh& mesh, std::int64_t most_bytes)
      : program_(program), mesh_(mesh), most_bytes_(most_bytes), ops_(program.region(region).ops) {
    for (OpId id : ops_) {
      place_.emplace(id, place_.size());
      find_producers(id);
      for (OpId from : producers_[id]) users_[from].push_back(id);
      const Op& op = program.op(id);
      if (op.def->cls == OpClass::opaque || is_meeting(program, op)) stays_.insert(id);
    }
  }

  // In a good order; `waits` has the collectives that something runs beside, with the op that they
  // are waited for before.
  std::vector<OpId> run(std::unordered_map<OpId, std::vector<OpId>>& waits) {
    std::vector<OpId> all;
    for (OpId id : ops_)
      if (travels(program_, program_.op(id))) all.push_back(id);
    for (OpId id : all) find_work(id);
    count_work();
    for (OpId id : all)
      if (const OpId before = first_use(id); before != kNone) waits[before].push_back(id);
    return std::move(ops_);
  }

 private:
  using Set = OpSet;

  // Ops of the region, which come in an order that works.
  void find_producers(OpId id) {
    std::vector<OpId>& from = producers_[id];
    const Op& op = program_.op(id);
    const auto add = [&](ValueId v) {
      const OpId maker = program_.value(v).op;
      if (maker != kNone && producers_.contains(maker)) from.push_back(maker);
    };
    for (ValueId v : program_.operands(op)) add(v);
    if (op.region_count > 0)
      for (ValueId v : captured_values(program_, op)) add(v);
  }

  const std::vector<OpId>& producers(OpId id) const { return producers_.at(id); }
  Set uses(OpId id) const {
    const auto users = users_.find(id);
    return users == users_.end() ? Set{} : Set(users->second);
  }

  bool needs_any(OpId id, const Set& made) const {
    return std::ranges::any_of(producers(id), [&](OpId p) { return made.contains(p); });
  }
  bool is_used_in(OpId id, const Set& by) const {
    const auto users = users_.find(id);
    return users != users_.end() &&
           std::ranges::any_of(users->second, [&](OpId u) { return by.contains(u); });
  }
  bool is_used_only_in(OpId id, const Set& by) const {
    const auto users = users_.find(id);
    return users != users_.end() &&
           std::ranges::all_of(users->second, [&](OpId u) { return by.contains(u); });
  }

  bool is_work(OpId id) {
    const auto [known, is_new] = is_work_.try_emplace(id, false);
    const Op& op = program_.op(id);
    if (is_new)
      known->second = op.def->cls != OpClass::communicate && is_worth_overlapping(program_, op);
    return known->second;
  }
  // Devices meet in it, or nobody knows what it does: it keeps its place among its like.
  bool stays(OpId id) const { return stays_.contains(id); }

  std::int64_t growth(OpId id) const {
    const Op& op = program_.op(id);
    const auto size = [&](ValueId v) {
      const Type& type = program_.type_of(v);
      return type.is_tensor() ? type.bytes() : 0;
    };
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < op.result_count; ++i) bytes += size(program_.result(op, i));
    for (ValueId v : program_.operands(op)) bytes -= size(v);
    return std::max<std::int64_t>(bytes, 0);
  }

  std::size_t place(OpId id) const { return place_.at(id); }
  bool is_end(std::size_t i) const { return program_.op(ops_[i]).def->form == Form::terminator; }

  void find_work(OpId collective) {
    wanted_ = kAmple * collective_seconds(program_, program_.op(collective), mesh_);
    const std::size_t at = place(collective);
    const Set ahead = work_ahead(at);
    Set behind = wanted_ > 0 ? work_behind(at) : Set{};
    if (ahead.empty() && behind.empty()) return;
    taken_.insert(ahead.ids());
    taken_.insert(behind.ids());
    rearrange(at, behind, ahead);
  }

  // Counts the op as work beside the collective.
  void cover(OpId id) { wanted_ -= op_seconds(program_, program_.op(id), mesh_, wanted_); }

  // What comes after the collective, does not need it, and should come before its first use.
  Set work_ahead(std::size_t at) {
    Set late = {ops_[at]}, found;
    std::vector<OpId> free;
    std::int64_t under_way = growth(ops_[at]);
    bool used = false, left_one = false;  // that devices meet in: no other overtakes it
    for (std::size_t i = at + 1; i < ops_.size() && i - at < kMostLooks && !is_end(i); ++i) {
      const OpId id = ops_[i];
      const bool meets = stays(id);
      bool waits = needs_any(id, late);
      used = used || waits;
      if (meets && !waits && used) {
        under_way += growth(id);
        waits = growth(id) > 0 && under_way > most_bytes_;
        waits = waits || program_.op(id).def->cls == OpClass::opaque;
      }
      if (waits || (meets && left_one)) {
        late.insert(id);
        left_one = left_one || meets;
        continue;
      }
      if (!used) {
        if (!is_work(id)) continue;
        if (wanted_ > 0) taken_.insert(id);  // no later collective takes it away
        cover(id);
        continue;
      }
      free.push_back(id);
      const bool begins = travels(program_, program_.op(id));
      if (begins || (is_work(id) && !taken_.contains(id) && wanted_ > 0)) found.insert(id);
      left_one = left_one || (meets && !found.contains(id));
      if (is_work(id) && found.contains(id)) cover(id);
      if (wanted_ <= 0) break;
    }
    // And what they need.
    for (std::size_t i = free.size(); i-- > 0;)
      if (is_used_in(free[i], found)) found.insert(free[i]);
    return found;
  }

  // What comes before the collective and is not needed by it.
  Set work_behind(std::size_t at) {
    Set needed, found;
    std::vector<OpId> free;  // nearest first
    const auto need = [&](OpId id) {
      for (OpId p : producers(id)) needed.insert(p);
    };
    need(ops_[at]);
    for (std::size_t i = at; i-- > 0 && at - i < kMostLooks && wanted_ > 0;) {
      const OpId id = ops_[i];
      if (needed.contains(id) || stays(id) || taken_.contains(id)) {
        need(id);
        continue;
      }
      free.push_back(id);
      if (!is_work(id)) continue;
      found.insert(id);
      cover(id);
    }
    // What needs them comes after them, and what only they need comes with them.
    for (std::size_t i = free.size(); i-- > 0;)
      if (needs_any(free[i], found)) found.insert(free[i]);
    for (OpId id : free)
      if (is_used_only_in(id, found)) found.insert(id);
    return found;
  }

  // What is moved lies within so many ops of the collective.
  void rearrange(std::size_t at, const Set& behind, const Set& ahead) {
    const std::size_t begin = at > kMostLooks ? at - kMostLooks : 0;
    const std::size_t end = std::min(ops_.size(), at + kMostLooks);
    const Set users = uses(ops_[at]);
    std::vector<OpId> order, beside, after;
    for (std::size_t i = begin; i < at; ++i)
      (behind.contains(ops_[i]) ? beside : order).push_back(ops_[i]);
    bool used = false;
    for (std::size_t i = at + 1; i < end; ++i) {
      used = used || users.contains(ops_[i]) || is_end(i);
      (!used || ahead.contains(ops_[i]) ? beside : after).push_back(ops_[i]);
    }
    order.push_back(ops_[at]);
    begin_first(beside);
    order.insert(order.end(), beside.begin(), beside.end());
    order.insert(order.end(), after.begin(), after.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      ops_[begin + i] = order[i];
      place_[order[i]] = begin + i;
    }
  }

  // Others that may begin do so before work that they do not need.
  void begin_first(std::vector<OpId>& list) const {
    Set needed;
    for (std::size_t i = list.size(); i-- > 0;)
      if (stays(list[i]) || needed.contains(list[i])) {
        needed.insert(list[i]);
        for (OpId p : producers(list[i])) needed.insert(p);
      }
    std::ranges::stable_partition(list, [&](OpId id) { return needed.contains(id); });
  }

  void count_work() {
    work_before_.assign(ops_.size() + 1, 0);
    for (std::size_t i = 0; i < ops_.size(); ++i)
      work_before_[i + 1] = work_before_[i] + (is_work(ops_[i]) ? 1 : 0);
  }

  // Where it is waited for; kNone where nothing runs meanwhile.
  OpId first_use(OpId collective) const {
    std::size_t use = ops_.size() - 1;  // the terminator
    const Set users = uses(collective);
    for (OpId user : users.ids()) use = std::min(use, place(user));
    const bool beside = work_before_[use] > work_before_[place(collective)];
    return beside ? ops_[use] : kNone;
  }

  const Program& program_;
  const Mesh& mesh_;
  const std::int64_t most_bytes_;
  std::vector<OpId> ops_;
  std::unordered_map<OpId, std::vector<OpId>> producers_, users_;
  std::unordered_map<OpId, bool> is_work_;
  std::unordered_map<OpId, std::size_t> place_;
  std::vector<std::size_t> work_before_;  // by place: how many of those before it are work
  Set stays_;
  Set taken_;          // work that runs beside a collective already
  double wanted_ = 0;  // seconds of work that the one at hand still has room for
};

class Overlapper : public Copier {
 public:
  Overlapper(const Program& from, std::int64_t most_bytes)
      : Copier(from), mesh_(mesh_of(from)), most_bytes_(most_bytes) {}

 private:
  RegionId copy_region(RegionId region) override {
    const RegionId made = out_.add_region();
    for (ValueId v : from_.region(region).args)
      values_[v] = out_.add_arg(made, out_.intern(from_.type_of(v)));
    std::unordered_map<OpId, std::vector<OpId>> waits;
    const bool any = std::ranges::any_of(from_.region(region).ops,
                                         [&](OpId id) { return travels(from_, from_.op(id)); });
    for (OpId id :
         any ? Order(from_, region, mesh_, most_bytes_).run(waits) : from_.region(region).ops) {
      if (const auto found = waits.find(id); found != waits.end())
        for (OpId collective : found->second) write_wait(made, from_.op(collective));
      copy_op(made, from_.op(id));
    }
    return made;
  }

  void write_wait(RegionId at, const Op& collective) {
    std::vector<ValueId> results;
    std::vector<TypeId> types;
    for (std::size_t i = 0; i < collective.result_count; ++i) {
      const ValueId v = from_.result(collective, i);
      if (!from_.type_of(v).is_tensor()) continue;
      results.push_back(values_.at(v));
      types.push_back(out_.intern(from_.type_of(v)));
    }
    const OpId made = out_.add_op(at, *find_stablehlo_op("optimization_barrier"), results, types,
                                  {}, {}, location(collective.loc));
    for (std::size_t i = 0, next = 0; i < collective.result_count; ++i)
      if (const ValueId v = from_.result(collective, i); from_.type_of(v).is_tensor())
        values_[v] = out_.result(out_.op(made), next++);
  }

  const Mesh mesh_;
  const std::int64_t most_bytes_;
};

}  // namespace

Program overlap_collectives(const Program& program, std::int64_t most_bytes) {
  return Overlapper(program, most_bytes).run();
}

OpId awaited_by(const Program& program, const Op& op) {
  const bool is_barrier = op.def->view == ViewKind::always && op.def->cls == OpClass::control;
  if (!is_barrier || op.operand_count == 0) return kNone;
  const OpId from = program.value(program.operands(op)[0]).op;
  if (from == kNone || !travels(program, program.op(from))) return kNone;
  const bool all = std::ranges::all_of(program.operands(op),
                                       [&](ValueId v) { return program.value(v).op == from; });
  return all ? from : kNone;
}

}  // namespace heddle
