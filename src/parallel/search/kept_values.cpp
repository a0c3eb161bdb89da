// Which values are better computed again than kept over the fullest time of a program: a cut of
// least cost through what is computed before it, stretch by stretch.
#include <algorithm>
#include <map>

#include "cost/usual_figures.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "parallel/search/min_cut.h"
#include "parallel/search/recompute.h"
#include "parallel/search/traits.h"

namespace heddle::search {

namespace {

// Efforts that are looked at: what is read and written again; products along short sums too, as in
// attention; everything.
constexpr int kEfforts[] = {2, 4, 8, 1024};
// A stretch ends where little is needed beyond it, beside what it keeps for later.
constexpr std::int64_t kWorthAnEnd = 4;
// What saves less of the values than this is no choice of its own.
constexpr double kLeastSaved = 0.05;

struct Seen {
  std::int64_t bytes = 0;
  std::size_t end = 0;  // its last use before the fullest time
  bool late = false;    // used after it
  bool free = false;    // made of constants alone
};

class KeptValues {
 public:
  KeptValues(const Program& program, const Function& function, RuleCache& rules)
      : program_(program),
        rules_(rules),
        traits_(traits_of(program, function, rules)),
        ops_(program.region(function.body).ops),
        place_(program.op_count(), kNone),
        seen_(program.value_count()) {
    for (std::size_t p = 0; p < ops_.size(); ++p) place_[ops_[p]] = static_cast<OpId>(p);
    find_late();
    look();
    find_stretches();
  }

  Recomputation choose(int effort) {
    Recomputation out;
    out.effort = effort;
    out.stretch = stretch_;
    out.late = late_;
    number_values();
    // A value is needed or not, and computed again or not.
    const int source = 0, sink = 1;
    MinCut cut(2 + 2 * static_cast<int>(values_.size()));
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const ValueId v = values_[i];
      const std::int64_t keep = effort * seen_[v].bytes, gain = keep - work_of(v);
      cut.add_edge(needed(i), sink, keep);
      if (seen_[v].late) cut.add_edge(source, needed(i), MinCut::kNever);
      if (!can_be_again(v) || gain <= 0) continue;
      cut.add_edge(source, again(i), gain);
      cut.add_edge(again(i), needed(i), MinCut::kNever);
      for (ValueId from : program_.operands(maker(v)))
        if (const auto known = number_.find(from); known != number_.end())
          cut.add_edge(again(i), needed(known->second), MinCut::kNever);
    }
    for (const Seen& seen : seen_) out.free.push_back(seen.free);
    const std::vector<bool> chosen = cut.source_side(source, sink);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (seen_[values_[i]].late) out.needed.push_back(values_[i]);
      if (chosen[static_cast<std::size_t>(again(i))])
        out.again.push_back(values_[i]);
      else if (chosen[static_cast<std::size_t>(needed(i))])
        out.kept.push_back(values_[i]);
    }
    return out;
  }

  std::int64_t bytes_of(const std::vector<ValueId>& values) const {
    std::int64_t bytes = 0;
    for (ValueId v : values) bytes += seen_[v].bytes;
    return bytes;
  }

 private:
  const Op& maker(ValueId v) const { return program_.op(program_.value(v).op); }
  std::size_t place(ValueId v) const { return place_[program_.value(v).op]; }
  bool is_made_here(ValueId v) const {
    return program_.value(v).op != kNone && place_[program_.value(v).op] != kNone;
  }

  template <typename Visit>
  void each_use(const Op& op, Visit visit) const {
    for (ValueId v : program_.operands(op))
      if (is_made_here(v)) visit(v);
    if (op.region_count == 0) return;
    for (ValueId v : captured_values(program_, op))
      if (is_made_here(v)) visit(v);
  }

  // The first op after the time at which most is held.
  void find_late() {
    std::vector<std::int64_t> held(static_cast<std::size_t>(traits_.times) + 2, 0);
    for (OpId id : ops_) {
      const Op& op = program_.op(id);
      if (op.def->view != ViewKind::none || op.def->parts == Parts::constant) continue;
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const ValueId v = program_.result(op, i);
        const ValueTraits& value = traits_.values[v];
        if (value.stitched || !program_.type_of(v).is_tensor()) continue;
        held[static_cast<std::size_t>(value.made)] += program_.type_of(v).bytes();
        held[static_cast<std::size_t>(value.last_used) + 1] -= program_.type_of(v).bytes();
      }
    }
    std::int64_t now = 0, most = 0, fullest = 0;
    for (std::size_t t = 0; t < held.size(); ++t) {
      now += held[t];
      if (now <= most) continue;
      most = now;
      fullest = static_cast<std::int64_t>(t);
    }
    while (late_ < ops_.size() && traits_.begin[ops_[late_]] <= fullest) ++late_;
  }

  void look() {
    for (std::size_t p = 0; p < ops_.size(); ++p) {
      const Op& op = program_.op(ops_[p]);
      each_use(op, [&](ValueId v) {
        if (p < late_)
          seen_[v].end = p;
        else
          seen_[v].late = true;
      });
      const bool free = op.def->parts == Parts::constant ||
                        (is_plain(op) && std::ranges::all_of(program_.operands(op), [&](ValueId v) {
                           return is_made_here(v) && seen_[v].free;
                         }));
      for (std::size_t i = 0; i < op.result_count; ++i) {
        Seen& seen = seen_[program_.result(op, i)];
        const Type& type = program_.type_of(program_.result(op, i));
        seen.bytes = type.is_tensor() ? type.bytes() : 0;
        seen.end = p;
        seen.free = free;
      }
    }
    // What is read through a view is there as long as the view.
    for (std::size_t p = late_; p-- > 0;) {
      const Op& op = program_.op(ops_[p]);
      if (op.def->view == ViewKind::none || op.operand_count == 0) continue;
      std::size_t& end = seen_[program_.operands(op)[0]].end;
      end = std::max(end, seen_[program_.result(op, 0)].end);
    }
  }

  // Ops of which a copy gives the same wherever it stands.
  bool is_plain(const Op& op) const {
    if (op.result_count != 1 || op.def->draws || !program_.type_of(op.results).is_tensor())
      return false;
    if (op.region_count > 0 && !captured_values(program_, op).empty()) return false;
    switch (op.def->parts) {
      case Parts::constant:
      case Parts::manual:
      case Parts::loop:
      case Parts::branch:
      case Parts::reshard:
      case Parts::unseen:
        return false;
      default:
        break;
    }
    return op.def->cls == OpClass::light || op.def->cls == OpClass::heavy ||
           op.def->cls == OpClass::move || op.def->cls == OpClass::reduce ||
           op.def->cls == OpClass::contract;
  }

  // Places behind which values are needed by ops of the same part, by their bytes: where they are
  // few, a stretch ends. What is left behind the last one is needed at once, and stays; where that
  // is little, so does the last one.
  void find_stretches() {
    std::vector<std::int64_t> over(late_ + 1, 0);  // a sum of differences first
    std::vector<std::int64_t> inside(late_ + 1, 0);
    for (std::size_t p = 0; p < late_; ++p) {
      const Op& op = program_.op(ops_[p]);
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const Seen& seen = seen_[program_.result(op, i)];
        if (seen.free || op.def->view != ViewKind::none) continue;
        over[p] += seen.bytes;
        over[seen.end] -= seen.bytes;
        if (seen.late) inside[p] += seen.bytes;
      }
    }
    stretch_.assign(ops_.size(), -1);
    std::int64_t now = 0, kept = 0, open = 0;  // kept: since the last end; open: where it may be
    std::size_t begin = 0, best = kNone;
    std::int64_t least = 0, last = 0;  // last: what the last stretch keeps
    int count = 0;
    for (std::size_t p = 0; p < late_; ++p) {
      now += over[p];
      kept += inside[p];
      if (kept > 0 && best == kNone && kept >= kWorthAnEnd * now) {
        open = kept;
        best = p;
        least = now;
      }
      if (best == kNone) continue;
      if (now < least) {
        best = p;
        least = now;
      }
      if (kept < 2 * open) continue;
      // The end is at the best place, and what comes after it is looked at again.
      for (std::size_t q = begin; q <= best; ++q) stretch_[q] = count;
      ++count;
      last = 0;
      for (std::size_t q = begin; q <= best; ++q) last += inside[q];
      for (std::size_t q = p; q > best; --q) now -= over[q];
      begin = best + 1;
      p = best;
      best = kNone;
      kept = 0;
    }
    if (2 * kept < last) std::ranges::replace(stretch_, count - 1, -1);
    // What is needed in another stretch than where it is made.
    crosses_.assign(program_.value_count(), false);
    for (std::size_t p = 0; p < late_; ++p) {
      const Op& op = program_.op(ops_[p]);
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const ValueId v = program_.result(op, i);
        crosses_[v] = stretch_[p] != stretch_[seen_[v].end];
      }
    }
  }

  bool can_be_again(ValueId v) const {
    const std::size_t p = place(v);
    return stretch_[p] >= 0 && !crosses_[v] && is_plain(program_.op(ops_[p]));
  }

  // Bytes that are read and written instead of those that are kept.
  std::int64_t work_of(ValueId v) {
    const Op& op = maker(v);
    if (op.def->view != ViewKind::none) return 1;
    std::int64_t bytes = seen_[v].bytes;
    if (op.def->cls == OpClass::reduce)
      for (ValueId from : program_.operands(op)) bytes += program_.type_of(from).bytes();
    if (op.def->cls != OpClass::contract) return bytes + 1;
    double steps = 1;
    for (const Factor& factor : rules_.of(program_.value(v).op).factors)
      steps *= static_cast<double>(factor.size);
    return std::max(bytes, static_cast<std::int64_t>(steps / cost::kProductsOfAByte)) + 1;
  }

  // Values before the fullest time that may be needed after it.
  void number_values() {
    if (!values_.empty()) return;
    for (std::size_t p = 0; p < late_; ++p) {
      const Op& op = program_.op(ops_[p]);
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const ValueId v = program_.result(op, i);
        if (seen_[v].free || !program_.type_of(v).is_tensor()) continue;
        number_[v] = values_.size();
        values_.push_back(v);
      }
    }
  }
  static int needed(std::size_t i) { return 2 + 2 * static_cast<int>(i); }
  static int again(std::size_t i) { return needed(i) + 1; }

  const Program& program_;
  RuleCache& rules_;
  const Traits traits_;
  const std::vector<OpId>& ops_;
  std::vector<OpId> place_;  // in the body, by OpId
  std::vector<Seen> seen_;   // by ValueId
  std::size_t late_ = 0;
  std::vector<int> stretch_;  // by place; -1: none
  std::vector<bool> crosses_;
  std::vector<ValueId> values_;
  std::unordered_map<ValueId, std::size_t> number_;
};

}  // namespace

std::vector<Recomputation> recomputations(const Program& program, const Function& function,
                                          RuleCache& rules) {
  KeptValues values(program, function, rules);
  std::vector<Recomputation> found;
  std::int64_t held = -1;
  for (int effort : kEfforts) {
    Recomputation how = values.choose(effort);
    if (held < 0) held = values.bytes_of(how.needed);
    const std::int64_t now = values.bytes_of(how.kept);
    log(kLogSteps,
        "search: effort {}: {} of {} bytes that ops need behind place {} are kept, {} values are "
        "computed again in {} stretches",
        effort, now, values.bytes_of(how.needed), how.late, how.again.size(),
        how.stretch.empty() ? 0 : *std::ranges::max_element(how.stretch) + 1);
    if (static_cast<double>(held - now) < kLeastSaved * static_cast<double>(held)) continue;
    held = now;
    found.push_back(std::move(how));
  }
  return found;
}

Recomputation recomputation_for(const Program& program, const Function& function, RuleCache& rules,
                                int effort) {
  return KeptValues(program, function, rules).choose(effort);
}

}  // namespace heddle::search
