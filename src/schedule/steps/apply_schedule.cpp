// Takes the steps of a schedule one after the other.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "heddle/op.h"
#include "heddle/schedule.h"
#include "heddle/schedule_text.h"
#include "schedule/steps/as_slice.h"
#include "schedule/steps/dead.h"
#include "schedule/steps/differs.h"
#include "schedule/steps/fuse.h"
#include "schedule/steps/fuse_inside.h"
#include "schedule/steps/meeting.h"
#include "schedule/steps/overlap_chunks.h"
#include "schedule/steps/reorder.h"
#include "schedule/steps/split.h"
#include "schedule/steps/value_table.h"
#include "spmd/report.h"

namespace heddle {

Expected<DeviceSchedule> read_schedule(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return reason("there is no schedule {}", file);
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return reason("{} cannot be read", file);
  return parse_schedule(text.str(), file);
}

namespace {

using Kind = ScheduleStep::Kind;

class Application {
 public:
  Application(const Spmd& spmd, const SpmdFunction& placed, const std::vector<Carried>& carried)
      : program_(spmd.program),
        placed_(placed),
        carried_(carried),
        table_(program_, *program_.find_function(placed.name)) {}

  Expected<StepTaken> take(const ScheduleStep& step) {
    said_.clear();
    table_.unfollow();
    HEDDLE_TRY_VOID(apply(step));
    return StepTaken{text_of(step), std::move(said_)};
  }

  Program& program() { return program_; }
  const SpmdFunction& placed() const { return placed_; }

 private:
  using Values = std::vector<StepValue>;

  Verdict apply(const ScheduleStep& step) {
    Values values, of;
    table_.follow(values);
    table_.follow(of);
    const bool any = step.values == std::vector<std::string>{"*"};
    // A pattern means those of its values for which the step can be taken.
    const bool lenient =
        std::ranges::any_of(step.values, [](const std::string& w) { return w.ends_with('*'); });
    if (!any)
      for (const std::string& word : step.values) {
        if (word == "*" && step.kind == Kind::fuse) continue;  // any all_gather that fits
        HEDDLE_TRY(const Values found, table_.find(word));
        values.insert(values.end(), found.begin(), found.end());
      }
    if (!step.of.empty()) {
      HEDDLE_TRY(of, table_.find(step.of));
    }
    switch (step.kind) {
      case Kind::split:
        return each(values, lenient, step, [&](std::size_t i) -> Verdict {
          HEDDLE_TRY(const OpId op, op_of(values[i]));
          SplitHow how{{}, step.to_one};
          if (step.dim >= 0) how.dim = static_cast<std::size_t>(step.dim);
          return took(split(program_, op, how));
        });
      case Kind::reorder:
        return step.past ? past(values, of, step) : under(values, of, any, step);
      case Kind::as_slice:
        if (any) values = boundary();
        return each(values, any, step, [&](std::size_t i) {
          return any ? slice_with_partner(values[i]) : slice(values[i]);
        });
      case Kind::dead:
        return each(values, lenient, step, [&](std::size_t i) -> Verdict {
          HEDDLE_TRY(const OpId op, op_of(values[i]));
          return took(remove_dead(program_, placed_.mesh, op));
        });
      case Kind::fuse:
        return fuse_all(values, step);
      case Kind::overlap:
        return overlap(step);
    }
    return yes();
  }

  // Takes the step for one value after the other; where some may be left out, not for none.
  template <typename One>
  Verdict each(const Values& values, bool lenient, const ScheduleStep& step, One one) {
    std::size_t done = 0;
    std::optional<Reason> no;
    if (values.empty()) return reason("there is nothing that it could be taken for");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Verdict taken = one(i);
      if (!taken && !lenient) return taken.why();
      if (!taken) {
        said_.push_back("left out: " + taken.reason());
        if (!no) no = taken.why();
      }
      if (taken) ++done;
    }
    if (done == 0) return *no;
    return name_made(step);
  }

  // What a step has made, as many each time, goes to its names in turn.
  Verdict name_made(const ScheduleStep& step) {
    if (step.names.empty()) {
      made_.clear();
      return yes();
    }
    std::vector<std::vector<ValueId>> lists(step.names.size());
    for (const std::vector<StepValue>& of_one : made_) {
      if (of_one.size() < step.names.size() && step.names.size() > 1)
        return reason("it makes {} values, and there are {} names for them", of_one.size(),
                      step.names.size());
      for (std::size_t i = 0; i < of_one.size(); ++i)
        lists[std::min(i, lists.size() - 1)].push_back(of_one[i].value);
    }
    for (std::size_t i = 0; i < lists.size(); ++i) table_.name(step.names[i], std::move(lists[i]));
    made_.clear();
    return yes();
  }

  Verdict took(Expected<Rewritten> rewritten) {
    if (!rewritten) return rewritten.why();
    table_.update(rewritten->values);
    for (std::vector<StepValue>& list : made_)
      for (StepValue& v : list) {
        const auto now = rewritten->values.find(v.value);
        v.value = now == rewritten->values.end() ? kNone : now->second;
      }
    made_.emplace_back();
    for (ValueId v : rewritten->made) made_.back().push_back({StepValue::Kind::value, v, 0});
    program_ = std::move(rewritten->program);
    for (std::string& line : rewritten->said) said_.push_back(std::move(line));
    return yes();
  }

  Verdict fuse_all(const Values& values, const ScheduleStep& step) {
    const FuseHow how{step.chunks, step.by, step.through, step.lanes};
    HEDDLE_TRY(const std::vector<OpId> ops, ops_of(values));
    if (step.values.back() == "*") {
      if (has_product(ops)) {
        HEDDLE_TRY(const FusedOps line, FusedOps::of(program_, ops));
        HEDDLE_TRY_VOID(took(fuse_inside_any(program_, placed_.mesh, line, how)));
        return name_made(step);
      }
      return each(values, values.size() > 1, step, [&](std::size_t i) -> Verdict {
        HEDDLE_TRY(const OpId op, op_of(values[i]));
        return took(fuse_inside_any(program_, placed_.mesh, FusedOps{.scatter = op}, how));
      });
    }
    if (goes_inside(ops)) {
      HEDDLE_TRY(const FusedOps line, FusedOps::of(program_, ops));
      HEDDLE_TRY_VOID(took(fuse_inside(program_, placed_.mesh, line, how)));
    } else if (how.chunks > 0 || how.lanes > 0 || !how.by.empty() || !how.through.empty()) {
      return reason("`in`, `by`, `through` and `lanes` are for what goes inside of a collective");
    } else {
      HEDDLE_TRY_VOID(took(fuse(program_, placed_.mesh, ops)));
    }
    return name_made(step);
  }

  bool has_product(const std::vector<OpId>& ops) const {
    return std::ranges::any_of(
        ops, [&](OpId id) { return program_.op(id).def->cls == OpClass::contract; });
  }
  // A reduce_scatter alone, or with an op that is none, or what a product is among: what is between
  // goes inside.
  bool goes_inside(const std::vector<OpId>& ops) const {
    const auto scatters = [&](OpId id) {
      return program_.op(id).def->collective == CollectiveKind::reduce_scatter;
    };
    if (has_product(ops)) return true;
    return !ops.empty() && scatters(ops[0]) &&
           (ops.size() == 1 || (ops.size() == 2 && !scatters(ops[1])));
  }

  Expected<OpId> op_of(const StepValue& v) const {
    if (v.kind == StepValue::Kind::result) {
      const Function& f = *program_.find_function(placed_.name);
      const Op& end = program_.op(program_.region(f.body).ops.back());
      const OpId maker = program_.value(program_.operands(end)[v.number]).op;
      if (maker == kNone) return reason("result {} is an argument as it came", v.number);
      return maker;
    }
    if (v.kind == StepValue::Kind::argument)
      return reason("argument {} is not made by an op", v.number);
    if (v.value == kNone) return reason("it is gone: a step before has put others in its place");
    const OpId maker = program_.value(v.value).op;
    if (maker == kNone) return reason("it is an argument now, and not made by an op");
    return maker;
  }

  Expected<std::vector<OpId>> ops_of(const Values& values) const {
    std::vector<OpId> ops;
    for (const StepValue& v : values) {
      HEDDLE_TRY(const OpId op, op_of(v));
      ops.push_back(op);
    }
    return ops;
  }

  Verdict under(const Values& values, const Values& gathers, bool any, const ScheduleStep& step) {
    if (gathers.empty()) return reason("there is no all_gather to reorder under");
    return each(gathers, any && gathers.size() > 1, step, [&](std::size_t i) -> Verdict {
      HEDDLE_TRY(const OpId gather, op_of(gathers[i]));
      HEDDLE_TRY(const std::vector<OpId> ops, ops_of(values));
      return took(reorder_under_gather(program_, placed_, gather, any ? nullptr : &ops));
    });
  }

  Verdict past(const Values& values, const Values& scatters, const ScheduleStep& step) {
    if (values.size() != 1 || scatters.size() != 1)
      return reason("one op goes past one reduce_scatter");
    HEDDLE_TRY(const OpId op, op_of(values[0]));
    HEDDLE_TRY(const OpId scatter, op_of(scatters[0]));
    HEDDLE_TRY_VOID(took(reorder_past_scatter(program_, placed_, scatter, op)));
    return name_made(step);
  }

  // All arguments, and the results that none of them is carried from.
  Values boundary() const {
    Values all;
    for (std::size_t i = 0; i < placed_.arguments.size(); ++i)
      all.push_back({StepValue::Kind::argument, kNone, i});
    for (std::size_t i = 0; i < placed_.results.size(); ++i)
      if (std::ranges::find(carried_, i, &Carried::result) == carried_.end())
        all.push_back({StepValue::Kind::result, kNone, i});
    return all;
  }

  // An argument that a result is carried to lies in slices where both can.
  Verdict slice_with_partner(const StepValue& v) {
    const auto pair = std::ranges::find(carried_, v.number, &Carried::argument);
    if (v.kind != StepValue::Kind::argument || pair == carried_.end()) return slice(v);
    SpmdFunction tried = placed_;
    const auto first = slice_argument(program_, tried, v.number);
    if (!first) return reason("arg{}: {}", v.number, first.reason());
    const auto second = slice_result(first->program, tried, pair->result);
    if (!second)
      return reason("arg{}: result{}, which becomes it, cannot: {}", v.number, pair->result,
                    second.reason());
    HEDDLE_TRY_VOID(slice(v));
    return slice({StepValue::Kind::result, kNone, pair->result});
  }

  Verdict slice(const StepValue& v) {
    if (v.kind == StepValue::Kind::value)
      return reason("only arguments and results of the function lie anywhere before and after it");
    const bool is_argument = v.kind == StepValue::Kind::argument;
    auto done = is_argument ? slice_argument(program_, placed_, v.number)
                            : slice_result(program_, placed_, v.number);
    const std::string name = fmt::format("{}{}", is_argument ? "arg" : "result", v.number);
    if (!done) return reason("{}: {}", name, done.reason());
    for (std::string& line : done->said) line = name + ": " + line;
    return took(std::move(done));
  }

  // Lines of equal number: the first ones with the last ones, one by one.
  Verdict overlap(const ScheduleStep& step) {
    Values first, last;
    table_.follow(first);
    table_.follow(last);
    HEDDLE_TRY(first, table_.find(step.values[0]));
    HEDDLE_TRY(last, table_.find(step.values[1]));
    if (first.size() != last.size())
      return reason("{} and {} are {} and {} values, and must be as many", step.values[0],
                    step.values[1], first.size(), last.size());
    ChunkHow how{step.chunks, {}};
    if (step.dim >= 0) how.dim = static_cast<std::size_t>(step.dim);
    return each(first, first.size() > 1, step, [&](std::size_t i) -> Verdict {
      HEDDLE_TRY(const OpId begin, op_of(first[i]));
      HEDDLE_TRY(const OpId end, op_of(last[i]));
      return took(overlap_chunks(program_, placed_.mesh, begin, end, how));
    });
  }

  Program program_;
  SpmdFunction placed_;
  const std::vector<Carried>& carried_;
  ValueTable table_;
  std::vector<std::string> said_;
  std::vector<std::vector<StepValue>> made_;  // by each time that a step was taken
};

// Devices that go different ways in a loop or branch must not meet inside of it.
Verdict meet_in_one_order(const Program& program, RegionId region, const Differs& differs) {
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    if (op.def->cls != OpClass::control || op.region_count == 0) continue;
    const bool loops = op.def->control == Control::loop;
    const ValueId decides =
        loops ? program.operands(program.op(program.region(program.regions(op)[0]).ops.back()))[0]
              : (op.operand_count > 0 ? program.operands(op)[0] : kNone);
    if (decides != kNone && is_meeting(program, op) && differs.along(decides) != 0)
      return reason("devices meet inside of {} and may not all come there", op.def->short_name());
    for (RegionId inner : program.regions(op))
      HEDDLE_TRY_VOID(meet_in_one_order(program, inner, differs));
  }
  return yes();
}

Verdict check_carried_parts(const SpmdFunction& before, const SpmdFunction& after,
                            const std::vector<Carried>& carried) {
  for (const Carried& c : carried) {
    if (c.argument >= after.arguments.size() || c.result >= after.results.size()) continue;
    if (!(before.arguments[c.argument] == before.results[c.result])) continue;
    if (after.arguments[c.argument] == after.results[c.result]) continue;
    return reason(
        "result{} becomes arg{} of the next run, and one of them lies in slices now: as_slice "
        "must be taken for both, or for none",
        c.result, c.argument);
  }
  return yes();
}

}  // namespace

Expected<std::vector<StepTaken>> apply_schedule(Spmd& spmd, const std::string& function,
                                                const DeviceSchedule& schedule,
                                                const std::vector<Carried>& carried) {
  SpmdFunction* placed = nullptr;
  for (SpmdFunction& f : spmd.functions)
    if (f.name == function) placed = &f;
  if (placed == nullptr || placed->mesh == kNone)
    return reason("{}: @{} is on one device, and has nothing to schedule: name a mesh",
                  schedule.file, function);
  Application all(spmd, *placed, carried);
  std::vector<StepTaken> taken;
  for (const ScheduleStep& step : schedule.steps) {
    auto done = all.take(step);
    if (!done)
      return reason("{}:{}: {}: {}", schedule.file, step.line, text_of(step), done.reason());
    taken.push_back(*std::move(done));
  }
  const Function& f = *all.program().find_function(function);
  const Differs differs(all.program(), f, all.placed());
  const Verdict meets = meet_in_one_order(all.program(), f.body, differs);
  if (!meets) return reason("{}: {}", schedule.file, meets.reason());
  const Verdict carries = check_carried_parts(*placed, all.placed(), carried);
  if (!carries) return reason("{}: {}", schedule.file, carries.reason());
  std::vector<Communication> now =
      communications_in(all.program(), f, all.program().meshes[placed->mesh]);
  *placed = all.placed();
  placed->communications = std::move(now);
  spmd.program = std::move(all.program());
  return taken;
}

}  // namespace heddle
