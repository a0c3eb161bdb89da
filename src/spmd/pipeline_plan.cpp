#include "spmd/pipeline_plan.h"

#include <algorithm>
#include <climits>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "spmd/micro_ops.h"

namespace heddle {

namespace {

class PipelinePlanner {
 public:
  PipelinePlanner(const Program& program, const Function& function, const MicroBatches& micro,
                  const std::vector<Carried>& carried)
      : program_(program),
        function_(function),
        micro_(micro),
        body_(program.region(function.body)),
        carried_(micro.arguments.size(), kNone),
        first_use_(micro.arguments.size(), INT_MAX) {
    for (const Carried& c : carried) carried_[c.argument] = static_cast<std::uint32_t>(c.result);
  }

  Expected<PipelinePlan> plan(const PipelineShape& shape) {
    plan_.shape = shape;
    plan_.arguments.resize(micro_.arguments.size());
    plan_.needed.resize(micro_.arguments.size());
    plan_.stages.assign(program_.op_count(), -1);
    HEDDLE_TRY(plan_.phases, micro_phases(program_, function_, micro_));
    std::vector<int> said(program_.op_count(), -1);
    for (OpId id : body_.ops) said[id] = program_.location(program_.op(id).loc).position;
    HEDDLE_TRY(plan_.positions, settled_positions(program_, function_, plan_.phases, said));
    find_rows();
    need_of_micro_batches();
    place_what_comes_after();
    need_of_what_comes_after();
    place_results();
    place_arguments();
    number_channels();
    return std::move(plan_);
  }

 private:
  // Rows of an argument.
  struct Part {
    int first_use = INT_MAX;  // position
    std::set<int> needed;     // stages
  };

  std::vector<ValueId> taken(const Op& op) const {
    std::vector<ValueId> all(program_.operands(op).begin(), program_.operands(op).end());
    for (ValueId v : captured_values(program_, op)) all.push_back(v);
    return all;
  }
  // Of an argument of the function; kNone for other values, and for the number of the micro-batch.
  std::uint32_t argument_of(ValueId v) const {
    const Value& value = program_.value(v);
    const bool is = value.op == kNone && value.region == function_.body;
    return is && value.index < micro_.arguments.size() ? value.index : kNone;
  }
  int stage_at(int position) const { return plan_.shape.stage_of(position); }
  bool is_sum(OpId id) const { return is_micro_sum(program_.op(id)); }
  // The stage that makes a value once, after sums; -1 for all others.
  int stage_after(ValueId v) const {
    const OpId maker = program_.value(v).op;
    if (maker == kNone) return -1;
    if (is_sum(maker)) return stage_at(std::max(plan_.positions[maker], 0));
    return plan_.phases[maker] == MicroPhase::after ? plan_.stages[maker] : -1;
  }

  // ---- rows

  // Arguments and results that have a row for each layer lie where their layers are. What is
  // carried does so in the same parts on both sides, or not at all.
  void find_rows() {
    plan_.argument_rows = argument_rows(program_, function_);
    plan_.result_rows = result_rows(program_, function_);
    plan_.argument_rows.resize(micro_.arguments.size());
    // A device has all rows of what lies on a stage.
    const Program& logical = micro_.program;
    const auto& whole = logical.region(logical.find_function(micro_.function)->body).args;
    for (std::size_t a = 0; a < micro_.arguments.size(); ++a) {
      RowParts& rows = plan_.argument_rows[a];
      const bool has_all =
          rows.empty() || rows.back().rows.end == logical.type_of(whole[a]).shape[0];
      if (micro_.arguments[a] >= 0 || !has_all) rows.clear();
    }
    for (std::size_t r = 0; r < micro_.results.size(); ++r)
      if (!comes_after_sums(plan_.result_rows[r]) || times_carried(r) > 1)
        plan_.result_rows[r].clear();
    for (std::size_t a = 0; a < carried_.size(); ++a) {
      RowParts& rows = plan_.argument_rows[a];
      if (carried_[a] == kNone) continue;
      RowParts& given = plan_.result_rows[carried_[a]];
      if (std::ranges::equal(rows, given, {}, &RowPart::rows, &RowPart::rows)) continue;
      rows.clear();
      given.clear();
    }
    for (std::size_t a = 0; a < plan_.argument_rows.size(); ++a)
      for (const RowPart& part : plan_.argument_rows[a]) part_of_[part.value] = {};
    // Nobody puts such a result together.
    const auto returned = program_.operands(program_.op(body_.ops.back()));
    for (std::size_t r = 0; r < micro_.results.size(); ++r)
      if (!plan_.result_rows[r].empty())
        plan_.phases[program_.value(returned[r]).op] = MicroPhase::before;
  }
  std::ptrdiff_t times_carried(std::size_t result) const {
    return std::ranges::count(carried_, static_cast<std::uint32_t>(result));
  }
  bool comes_after_sums(const RowParts& parts) const {
    return std::ranges::all_of(parts, [&](const RowPart& part) {
      const OpId maker = program_.value(part.value).op;
      return maker != kNone && (is_sum(maker) || plan_.phases[maker] == MicroPhase::after);
    });
  }

  // ---- who needs what

  // A stage needs a value at a position (INT_MAX: after sums). What is made wherever it is needed
  // is made there.
  void need(ValueId v, int stage, int position) {
    if (const std::uint32_t a = argument_of(v); a != kNone) {
      plan_.needed[a].insert(stage);
      first_use_[a] = std::min(first_use_[a], position);
      return;
    }
    if (const auto part = part_of_.find(v); part != part_of_.end()) {
      part->second.needed.insert(stage);
      part->second.first_use = std::min(part->second.first_use, position);
      return;
    }
    const OpId maker = program_.value(v).op;
    if (maker == kNone) return;  // the number of the micro-batch
    if (is_sum(maker) || plan_.phases[maker] == MicroPhase::after) {
      if (stage_after(v) != stage) once_.insert({v, stage});
      return;
    }
    if (const int from = plan_.positions[maker]; from >= 0) {
      if (stage_at(from) == stage) return;
      const auto [it, is_new] = first_.try_emplace({v, stage}, position);
      if (!is_new) it->second = std::min(it->second, position);
      return;
    }
    if (!anywhere_.insert({maker, stage}).second) return;
    for (ValueId operand : taken(program_.op(maker))) need(operand, stage, position);
  }

  void need_of_micro_batches() {
    for (OpId id : body_.ops) {
      if (plan_.phases[id] != MicroPhase::each) continue;
      int position = plan_.positions[id];
      if (position < 0 && is_sum(id)) position = 0;
      if (position < 0) continue;  // where it is needed
      for (ValueId v : taken(program_.op(id))) need(v, stage_at(position), position);
    }
  }

  void need_of_what_comes_after() {
    for (OpId id : body_.ops) {
      if (plan_.phases[id] != MicroPhase::after) continue;
      for (ValueId v : taken(program_.op(id))) need(v, plan_.stages[id], INT_MAX);
    }
  }

  // ---- what comes after sums

  // An op goes where what is carried lies, or most of what it takes; what is known of neither
  // follows those who use it.
  void place_what_comes_after() {
    for (OpId id : body_.ops)
      if (plan_.phases[id] == MicroPhase::after) plan_.stages[id] = wish(program_.op(id));
    for (std::size_t i = body_.ops.size(); i-- > 0;) {
      const OpId id = body_.ops[i];
      if (plan_.phases[id] != MicroPhase::after) continue;
      if (plan_.stages[id] < 0) plan_.stages[id] = 0;
      for (ValueId v : program_.operands(program_.op(id))) {
        const OpId maker = program_.value(v).op;
        if (maker != kNone && plan_.phases[maker] == MicroPhase::after && plan_.stages[maker] < 0)
          plan_.stages[maker] = plan_.stages[id];
      }
    }
  }

  int wish(const Op& op) const {
    // What is spread out is so where it is needed.
    if (op.def->rearranges == Rearrange::broadcast) return -1;
    int stage = -1;
    std::int64_t most = -1;
    for (ValueId v : taken(op)) {
      const std::uint32_t a = argument_of(v);
      const bool lies = a != kNone && carried_[a] != kNone && first_use_[a] != INT_MAX;
      if (lies && program_.type_of(v).elements() > 1) return stage_at(first_use_[a]);
      if (const auto part = part_of_.find(v);
          part != part_of_.end() && part->second.first_use != INT_MAX)
        return stage_at(part->second.first_use);
      const int from = stage_after(v);
      const std::int64_t bytes = program_.type_of(v).bytes();
      if (from < 0 || bytes <= most) continue;
      stage = from;
      most = bytes;
    }
    return stage;
  }

  // ---- arguments and results

  int home_of(std::size_t a) const {
    if (first_use_[a] != INT_MAX) return stage_at(first_use_[a]);
    return plan_.needed[a].empty() ? 0 : *plan_.needed[a].begin();
  }

  int home_of(const Part& part) const {
    if (part.first_use != INT_MAX) return stage_at(part.first_use);
    return part.needed.empty() ? 0 : *part.needed.begin();
  }

  // What is carried is where its argument lies, all else where it is made.
  void place_results() {
    const Op& end = program_.op(body_.ops.back());
    plan_.result_row_stages.resize(micro_.results.size());
    for (std::size_t i = 0; i < micro_.results.size(); ++i) {
      if (!plan_.result_rows[i].empty()) {
        plan_.results.push_back(-1);
        place_rows(i);
        continue;
      }
      const ValueId v = program_.operands(end)[i];
      int stage = -1;
      for (std::size_t a = 0; a < carried_.size(); ++a)
        if (carried_[a] == i) stage = home_of(a);
      const OpId maker = program_.value(v).op;
      const std::uint32_t a = argument_of(v);
      if (stage < 0 && a != kNone) stage = home_of(a);
      if (stage < 0 && maker != kNone && plan_.positions[maker] >= 0 && !is_sum(maker))
        stage = stage_at(plan_.positions[maker]);
      if (stage < 0) stage = stage_after(v);
      if (stage < 0) stage = 0;
      plan_.results.push_back(stage);
      need(v, stage, INT_MAX);
    }
  }

  // Each where the rows of its argument lie, or where it is made.
  void place_rows(std::size_t result) {
    const auto a = static_cast<std::size_t>(
        std::ranges::find(carried_, static_cast<std::uint32_t>(result)) - carried_.begin());
    const RowParts& parts = plan_.result_rows[result];
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const int stage = a < carried_.size() ? home_of(part_of_.at(plan_.argument_rows[a][k].value))
                                            : stage_after(parts[k].value);
      plan_.result_row_stages[result].push_back(stage);
      need(parts[k].value, stage, INT_MAX);
    }
  }

  void place_rows_of_argument(std::size_t a) {
    for (const RowPart& rows : plan_.argument_rows[a]) {
      const Part& part = part_of_.at(rows.value);
      const int home = home_of(part);
      plan_.argument_row_stages[a].push_back(home);
      plan_.arguments[a].insert(home);
      for (int stage : part.needed)
        if (stage != home) plan_.argument_messages.push_back({rows.value, home, stage});
    }
  }

  void place_arguments() {
    plan_.argument_row_stages.resize(plan_.arguments.size());
    for (std::size_t a = 0; a < plan_.arguments.size(); ++a) {
      if (!plan_.argument_rows[a].empty()) {
        place_rows_of_argument(a);
        continue;
      }
      plan_.arguments[a] = plan_.needed[a];
      if (carried_[a] == kNone && !plan_.needed[a].empty()) continue;
      const int home = home_of(a);
      plan_.arguments[a] = {home};
      for (int stage : plan_.needed[a])
        if (stage != home) plan_.argument_messages.push_back({body_.args[a], home, stage});
    }
  }

  // ---- messages

  void number_channels() {
    std::map<PipelineEdge, std::vector<ValueId>> edges;
    for (const auto& [who, position] : first_) {
      const int from = plan_.positions[program_.value(who.first).op];
      // What is needed after all micro-batches comes with the last position of its stage.
      edges[{from, position == INT_MAX ? last_position(who.second) : position}].push_back(
          who.first);
    }
    std::int64_t channel = 0;
    for (auto& [edge, values] : edges)
      plan_.messages.push_back({edge, ++channel, std::move(values)});
    for (OnceMessage& m : plan_.argument_messages) m.channel = ++channel;
    for (const auto& [v, stage] : once_)
      plan_.after_messages.push_back({v, stage_after(v), stage, ++channel});
  }

  int last_position(int stage) const {
    int last = plan_.shape.positions() - 1;
    while (stage_at(last) != stage) --last;
    return last;
  }

  const Program& program_;
  const Function& function_;
  const MicroBatches& micro_;
  const Region& body_;
  std::map<ValueId, Part> part_of_;               // by the value that takes them
  std::vector<std::uint32_t> carried_;            // by argument: the result; kNone: it is not
  std::vector<int> first_use_;                    // by argument: the first position
  std::map<std::pair<ValueId, int>, int> first_;  // value and stage: where it is needed first
  std::set<std::pair<ValueId, int>> once_;        // value after sums and stage that needs it
  std::set<std::pair<OpId, int>> anywhere_;
  PipelinePlan plan_;
};

}  // namespace

Expected<PipelinePlan> plan_pipeline(const Program& program, const Function& function,
                                     const MicroBatches& micro, const PipelineShape& shape,
                                     const std::vector<Carried>& carried) {
  return PipelinePlanner(program, function, micro, carried).plan(shape);
}

}  // namespace heddle
