#include "schedule/combine.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "heddle/op.h"
#include "ir/goes_on.h"
#include "ir/lower/simplify.h"
#include "ir/unused.h"
#include "schedule/ahead.h"
#include "schedule/waiting_collectives.h"

namespace heddle {

namespace {

// What one device has of a gathered value that may be there from the beginning on.
constexpr std::int64_t kSmallGather = std::int64_t{1} << 20;
// Ops that are looked at for what may join a collective.
constexpr std::size_t kMostAhead = 400;

class Combiner : public WaitingCollectives {
 public:
  Combiner(const Program& from, const ScheduleOptions& options)
      : WaitingCollectives(from, options.combine_bytes),
        options_(options),
        unused_(unused_ops(from)),
        leaves_(values_that_leave(from)) {}

 private:
  // ---- copying

  RegionId copy_region(RegionId region) override {
    const RegionId made = out_.add_region();
    std::map<Key, Group> around;
    std::swap(around, waiting_);
    find_early(region);
    for (ValueId v : from_.region(region).args) {
      values_[v] = out_.add_arg(made, out_.intern(from_.type_of(v)));
      begin_early(made, v);
    }
    std::map<ValueId, OpId> put_off_around;
    std::swap(put_off_around, put_off_);
    const std::span<const OpId> next_around = next_;
    const std::vector<OpId>& ops = from_.region(region).ops;
    const auto transfers = [&](OpId id) { return is_transfer(from_.op(id)); };
    auto next_transfer = std::ranges::find_if(ops, transfers);
    for (std::ptrdiff_t i = 0; i < std::ssize(ops); ++i) {
      const OpId id = ops[static_cast<std::size_t>(i)];
      const Op& op = from_.op(id);
      if (unused_[id] || begun_.contains(id)) continue;
      if (is_transfer(op)) {
        write_all(made);
        next_transfer = std::find_if(ops.begin() + i + 1, ops.end(), transfers);
      }
      next_ = std::span(ops.begin() + i + 1, std::max(ops.begin() + i + 1, next_transfer));
      if (can_be_put_off(op)) {
        put_off_.emplace(from_.result(op, 0), id);
        continue;
      }
      write_put_off(made, id == ops.back() ? std::exchange(put_off_, {}) : needed_by(op));
      if (!begun_.contains(id)) write(made, id);  // what was put off may have begun it
    }
    std::swap(put_off_around, put_off_);
    std::swap(around, waiting_);
    next_ = next_around;
    return made;
  }

  // Ranks with other programs wait for these: nothing moves past them.
  static bool is_transfer(const Op& op) {
    return op.def->collective == CollectiveKind::send ||
           op.def->collective == CollectiveKind::receive;
  }
  void write_all(RegionId at) {
    write_put_off(at, std::exchange(put_off_, {}));
    while (!waiting_.empty()) {
      const auto first = waiting_.begin();
      if (first->second.ops.empty())
        waiting_.erase(first);
      else
        flush(at, first->first);
    }
  }

  // Those that may begin as soon as what they are made of is there, so that many can be made at
  // once.
  void find_early(RegionId region) {
    std::int64_t gathered = 0;
    for (OpId id : from_.region(region).ops) {
      const Op& op = from_.op(id);
      if (unused_[id] || !begins_early(op) || op.operand_count != 1 || key_of(id) == kAlone)
        continue;
      if (op.def->collective == CollectiveKind::all_gather)
        gathered += from_.type_of(op.results).bytes();
      if (op.def->collective != CollectiveKind::all_gather || gathered <= options_.ahead_bytes)
        early_of_[from_.operands(op)[0]].push_back(id);
    }
  }

  void write(RegionId at, OpId id) {
    const Op& op = from_.op(id);
    bring(at, op);
    if (begun_.contains(id)) return;  // with others, once what it needs was there
    if (const Key key = key_of(id); key != kAlone)
      wait(at, key, id);
    else
      write_op(at, op);
  }

  // ---- what only goes on from a collective, element by element or elsewhere: it comes after
  // others have joined

  template <typename Values>
  bool needs_any(const Op& op, const Values& values) const {
    auto is_in = [&](ValueId v) { return values.contains(v); };
    if (std::ranges::any_of(from_.operands(op), is_in)) return true;
    return op.region_count > 0 && !values.empty() &&
           std::ranges::any_of(captured_values(from_, op), is_in);
  }

  bool can_be_put_off(const Op& op) {
    if (!needs_any(op, waits_in_) && !needs_any(op, put_off_)) return false;
    if (goes_on_at_once(from_, op)) return true;
    if (op.result_count != 1 || !is_pure(from_, op) || op.def->cls == OpClass::control)
      return false;
    std::int64_t bytes = 0;
    for (ValueId v : from_.operands(op))
      if (const Type& type = from_.type_of(v); type.is_tensor()) bytes += type.bytes();
    const Type& result = from_.type_of(from_.result(op, 0));
    // So small that nobody minds how long it is kept.
    if (bytes + (result.is_tensor() ? result.bytes() : 0) <= kSmallWork) return true;
    if (!leaves_[from_.result(op, 0)] || !waits_for_much(op) || kept_ + bytes > options_.kept_bytes)
      return false;
    kept_ += bytes;
    return true;
  }

  // For a gather; or, where it is a product, for a sum: gradients of factors of a weight.
  bool waits_for_much(const Op& op) const {
    return std::ranges::any_of(from_.operands(op), [&](ValueId v) {
      if (!waits_in_.contains(v)) return false;
      const CollectiveKind kind = from_.op(from_.value(v).op).def->collective;
      return kind == CollectiveKind::all_gather ||
             (kind == CollectiveKind::all_reduce && op.def->cls == OpClass::contract);
    });
  }

  // Takes out what an op and its regions need of that, and what this needs.
  std::map<ValueId, OpId> needed_by(const Op& op) {
    std::map<ValueId, OpId> needed;
    if (put_off_.empty()) return needed;
    std::vector<ValueId> open(from_.operands(op).begin(), from_.operands(op).end());
    if (op.region_count > 0)
      for (ValueId v : captured_values(from_, op)) open.push_back(v);
    while (!open.empty()) {
      const auto it = put_off_.find(open.back());
      open.pop_back();
      if (it == put_off_.end()) continue;
      const Op& maker = from_.op(it->second);
      for (ValueId v : from_.operands(maker)) open.push_back(v);
      if (maker.region_count > 0)
        for (ValueId v : captured_values(from_, maker)) open.push_back(v);
      needed.insert(put_off_.extract(it));
    }
    return needed;
  }

  void write_put_off(RegionId at, const std::map<ValueId, OpId>& ops) {
    for (const auto& [_, id] : ops) write(at, id);
  }

  // Writes what an op and its regions need and is still waiting.
  void bring(RegionId at, const Op& op) {
    auto need = [&](ValueId v) {
      const auto it = waits_in_.find(v);
      if (it == waits_in_.end()) return;
      const Key key = it->second;
      let_join(at, key);
      begin_nearby(at, key);
      flush(at, key);
    };
    for (ValueId v : from_.operands(op)) need(v);
    if (op.region_count > 0 && !waits_in_.empty())
      for (ValueId v : captured_values(from_, op)) need(v);
  }

  // Does now what others that come later are made of, so that they come along.
  void let_join(RegionId at, Key key) {
    const AheadQuestions ask{.is_there = [&](ValueId v) { return values_.contains(v); },
                             .is_done = [&](OpId id) { return unused_[id] || begun_.contains(id); },
                             .joins =
                                 [&](OpId id) {
                                   const Op& op = from_.op(id);
                                   return begins_early(op) && op.operand_count == 1 &&
                                          key_of(id) == key;
                                 }};
    const auto ahead = next_.first(std::min(next_.size(), kMostAhead));
    if (std::ranges::none_of(ahead, [&](OpId id) { return !ask.is_done(id) && ask.joins(id); }))
      return;
    std::vector<OpId> next;  // what was put off last, and what comes
    for (auto it = put_off_.rbegin(); it != put_off_.rend() && next.size() < kMostAhead; ++it)
      next.push_back(it->second);
    std::ranges::reverse(next);
    next.insert(next.end(), ahead.begin(), ahead.end());
    for (OpId id : work_to_join(from_, next, ask, options_.kept_bytes)) {
      begun_.insert(id);
      put_off_.erase(from_.result(from_.op(id), 0));
      write_op(at, from_.op(id));
    }
  }

  // Gathers of what is there already, whose results are used before the next product but one, come
  // along although they are large: keys and values of attention.
  void begin_nearby(RegionId at, Key key) {
    std::int64_t kept = 0;
    for (OpId id : next_.first(std::min(next_.size(), kMostAhead))) {
      const Op& op = from_.op(id);
      if (op.def->cls == OpClass::contract || op.def->cls == OpClass::control) return;
      const bool joins = op.def->collective == CollectiveKind::all_gather &&
                         op.operand_count == 1 && !unused_[id] && !begun_.contains(id) &&
                         values_.contains(from_.operands(op)[0]) && key_of(id) == key;
      if (!joins) continue;
      kept += from_.type_of(op.results).bytes();
      if (kept > options_.kept_bytes) return;
      begun_.insert(id);
      wait(at, key, id);
    }
  }

  void write_op(RegionId at, const Op& op) {
    copy_op(at, op);
    for (std::size_t i = 0; i < op.result_count; ++i) begin_early(at, from_.result(op, i));
  }

  // ---- collectives that begin early

  // A sum over one axis that goes on over another one.
  void has_come(RegionId at, ValueId v) override { begin_early(at, v); }

  void begin_early(RegionId at, ValueId v) {
    const auto it = early_of_.find(v);
    if (it == early_of_.end()) return;
    const std::vector<OpId> early = std::move(it->second);
    early_of_.erase(it);
    for (OpId id : early) {
      begun_.insert(id);
      wait(at, key_of(id), id);
    }
  }

  // Sums take no more memory than what they are made of, nor do small gathers matter.
  bool begins_early(const Op& op) const {
    switch (op.def->collective) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter:
        return true;
      case CollectiveKind::all_gather:
        return from_.type_of(op.results).bytes() <= kSmallGather;
      default:
        return false;
    }
  }

  const ScheduleOptions options_;
  std::vector<bool> unused_;
  std::vector<bool> leaves_;    // by value: nothing waits for what is made of it
  std::span<const OpId> next_;  // of the region, from the op at hand to a transfer
  std::int64_t kept_ = 0;       // bytes that work keeps while it waits for collectives
  std::unordered_map<ValueId, std::vector<OpId>> early_of_;  // that wait for the value
  std::unordered_set<OpId> begun_;
  std::map<ValueId, OpId> put_off_;  // by their results, which come in the order of the ops
};

}  // namespace

Program combine_collectives(const Program& program, const ScheduleOptions& options) {
  return Combiner(program, options).run();
}

}  // namespace heddle
