#include "schedule/combine.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "heddle/op.h"
#include "ir/eval/scalar.h"
#include "ir/goes_on.h"
#include "ir/replica_groups.h"
#include "ir/rules/rule_builder.h"
#include "ir/unused.h"
#include "schedule/copier.h"

namespace heddle {

namespace {

class Combiner : public Copier {
 public:
  Combiner(const Program& from, std::int64_t most_bytes)
      : Copier(from), most_bytes_(most_bytes), unused_(unused_ops(from)) {}

 private:
  // Collectives that wait to be written together.
  struct Group {
    std::vector<OpId> ops;
    std::int64_t bytes = 0;
  };

  // ---- copying

  RegionId copy_region(RegionId region) override {
    const RegionId made = out_.add_region();
    std::map<std::string, Group> around;
    std::swap(around, waiting_);
    // Sums may begin as soon as what they are made of is there, so that many can be made at once.
    for (OpId id : from_.region(region).ops)
      if (const Op& op = from_.op(id);
          is_sum(op) && !unused_[id] && op.operand_count == 1 && !key_of(op).empty())
        sums_of_[from_.operands(op)[0]].push_back(id);
    for (ValueId v : from_.region(region).args) {
      values_[v] = out_.add_arg(made, out_.intern(from_.type_of(v)));
      begin_sums(made, v);
    }
    std::map<ValueId, OpId> put_off_around;
    std::swap(put_off_around, put_off_);
    for (OpId id : from_.region(region).ops) {
      const Op& op = from_.op(id);
      if (unused_[id] || begun_.contains(id)) continue;
      if (is_transfer(op)) write_all(made);
      if (can_be_put_off(op)) {
        put_off_.emplace(from_.result(op, 0), id);
        continue;
      }
      write_put_off(made, id == from_.region(region).ops.back() ? std::exchange(put_off_, {})
                                                                : needed_by(op));
      if (!begun_.contains(id)) write(made, id);  // what was put off may have begun it
    }
    std::swap(put_off_around, put_off_);
    std::swap(around, waiting_);
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
      const std::string key = waiting_.begin()->first;
      flush(at, key);
      waiting_.erase(key);
    }
  }

  void write(RegionId at, OpId id) {
    const Op& op = from_.op(id);
    bring(at, op);
    if (const std::string key = key_of(op); !key.empty())
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

  bool can_be_put_off(const Op& op) const {
    return goes_on_at_once(from_, op) && (needs_any(op, waits_in_) || needs_any(op, put_off_));
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
      if (it != waits_in_.end()) flush(at, std::string(it->second));
    };
    for (ValueId v : from_.operands(op)) need(v);
    if (op.region_count > 0 && !waits_in_.empty())
      for (ValueId v : captured_values(from_, op)) need(v);
  }

  void write_op(RegionId at, const Op& op) {
    copy_op(at, op);
    for (std::size_t i = 0; i < op.result_count; ++i) begin_sums(at, from_.result(op, i));
  }

  // ---- collectives

  void begin_sums(RegionId at, ValueId v) {
    const auto it = sums_of_.find(v);
    if (it == sums_of_.end()) return;
    const std::vector<OpId> sums = std::move(it->second);
    sums_of_.erase(it);
    for (OpId id : sums) {
      begun_.insert(id);
      wait(at, key_of(from_.op(id)), id);
    }
  }

  static bool is_sum(const Op& op) {
    return op.def->collective == CollectiveKind::all_reduce ||
           op.def->collective == CollectiveKind::reduce_scatter;
  }

  // What must be equal; empty for ops that stay alone. Only those along axes of a mesh are ours.
  std::string key_of(const Op& op) const {
    switch (op.def->collective) {
      case CollectiveKind::permute:
        return permute_key(op);
      case CollectiveKind::all_gather:
        return with_numbers(op, {"all_gather_dim"});
      case CollectiveKind::all_to_all:
        return with_numbers(op, {"split_dimension", "concat_dimension", "split_count"});
      case CollectiveKind::all_reduce:
        return sum_key(op, {});
      case CollectiveKind::reduce_scatter:
        return sum_key(op, {"scatter_dimension"});
      default:
        return "";
    }
  }

  // The op and the axes along which devices meet.
  std::string axes_key(const Op& op) const {
    const Attr* groups = from_.attr(op, "replica_groups");
    const auto* along = groups == nullptr ? nullptr : groups->get<Attr::Struct>();
    if (along == nullptr) return "";
    std::string key(op.def->name);
    const Attr* axes = find_attr(along->fields, "axes");
    for (const Attr& axis : *axes->get<Attr::List>())
      for (const NamedAttr& field : axis.get<Attr::Struct>()->fields)
        key += " " + *field.value.get<std::string>();
    return key;
  }

  std::string with_numbers(const Op& op, std::initializer_list<const char*> names) const {
    std::string key = axes_key(op);
    for (const char* attr : names)
      if (!key.empty())
        key += fmt::format(" {}", from_.attr(op, attr)->get<Attr::Integer>()->value);
    return key;
  }

  std::string sum_key(const Op& op, std::initializer_list<const char*> names) const {
    const std::string key = with_numbers(op, names);
    const auto kind = known_reduction(from_, from_.regions(op)[0]);
    if (key.empty() || !kind) return "";
    return fmt::format("{} {} {}", key, name(*kind), name(from_.type_of(op.results).dtype));
  }

  // Who sends to whom.
  std::string permute_key(const Op& op) const {
    const Attr* pairs = from_.attr(op, "source_target_pairs");
    const Array* array = pairs == nullptr ? nullptr : pairs->get<Array>();
    if (array == nullptr) return "";
    std::string key =
        fmt::format("{} {}", op.def->name, static_cast<int>(exchange_grouping(from_, op)));
    for (std::int64_t i = 0; i < array->elements(); ++i)
      key += fmt::format(" {}", to_int64(*array, i));
    return key;
  }

  void wait(RegionId at, const std::string& key, OpId id) {
    const Op& op = from_.op(id);
    std::int64_t bytes = 0;
    for (ValueId v : from_.operands(op)) bytes += from_.type_of(v).bytes();
    if (waiting_[key].bytes + bytes > most_bytes_) flush(at, key);
    Group& group = waiting_[key];
    group.ops.push_back(id);
    group.bytes += bytes;
    for (std::size_t i = 0; i < op.result_count; ++i) waits_in_[from_.result(op, i)] = key;
  }

  void flush(RegionId at, const std::string& key) {
    const auto it = waiting_.find(key);
    if (it == waiting_.end() || it->second.ops.empty()) return;
    const Group group = std::move(it->second);
    waiting_.erase(it);
    const Op& first = from_.op(group.ops[0]);
    std::vector<ValueId> operands;
    std::vector<TypeId> types;
    for (OpId id : group.ops) {
      const Op& op = from_.op(id);
      for (ValueId v : from_.operands(op)) operands.push_back(values_.at(v));
      for (std::size_t i = 0; i < op.result_count; ++i)
        types.push_back(out_.intern(from_.type_of(from_.result(op, i))));
    }
    std::vector<RegionId> regions;
    for (RegionId r : from_.regions(first))
      regions.push_back(clone_region(out_, from_, r, values_));
    const OpId made = out_.add_op(at, *first.def, operands, types, from_.attrs_of(first), regions,
                                  location(first.loc));
    std::size_t next = 0;
    for (OpId id : group.ops) {
      const Op& op = from_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i) {
        values_[from_.result(op, i)] = out_.result(out_.op(made), next++);
        waits_in_.erase(from_.result(op, i));
      }
    }
  }

  std::int64_t most_bytes_;
  std::vector<bool> unused_;
  std::map<std::string, Group> waiting_;
  std::unordered_map<ValueId, std::string> waits_in_;
  std::unordered_map<ValueId, std::vector<OpId>> sums_of_;  // that wait for the value
  std::unordered_set<OpId> begun_;
  std::map<ValueId, OpId> put_off_;  // by their results, which come in the order of the ops
};

}  // namespace

Program combine_collectives(const Program& program, std::int64_t most_bytes) {
  return Combiner(program, most_bytes).run();
}

}  // namespace heddle
