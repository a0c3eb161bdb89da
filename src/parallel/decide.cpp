// Goes through a function once, in the order in which it is written later, and decides for each op
// how devices compute it and where its operands come from.
#include "heddle/decide.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/call_parts.h"
#include "ir/manual_plan.h"
#include "ir/trips.h"
#include "ir/unused.h"
#include "parallel/again.h"
#include "parallel/joined.h"
#include "parallel/manual_splits.h"
#include "parallel/open_sums.h"
#include "parallel/op_parts.h"
#include "parallel/reshards.h"
#include "parallel/sort_pairs.h"

namespace heddle {

double Decision::bring_seconds() const {
  double seconds = 0;
  for (const Fetch& fetch : fetches)
    if (fetch.route != nullptr) seconds += fetch.route->seconds;
  return seconds;
}

double Decisions::bring_seconds() const {
  double seconds = 0;
  for (const Decision& d : ops) seconds += d.bring_seconds();
  return seconds;
}

double Decisions::compute_seconds() const {
  double seconds = 0;
  for (const Decision& d : ops) {
    for (const Fetch& fetch : d.fetches)
      if (fetch.again) seconds += fetch.again->price.compute;
    if (d.choice) seconds += d.choice->price.own();
  }
  return seconds;
}

std::vector<ValueId> kept_in_loop(const Program& program, const Op& loop) {
  const Region& body = program.region(program.regions(loop)[1]);
  const auto returned = program.operands(program.op(body.ops.back()));
  std::vector<ValueId> kept;
  for (std::size_t i = 0; i < loop.result_count; ++i)
    kept.push_back(returned[i] == body.args[i] && program.type_of(body.args[i]).is_tensor()
                       ? program.operands(loop)[i]
                       : kNone);
  return kept;
}

namespace {

class Decider {
 public:
  Decider(Decisions& out, const Function& function, const Propagation& layouts)
      : out_(out),
        on_(out.on),
        program_(out.on.program),
        function_(function),
        layouts_(layouts),
        uses_(use_counts(program_)),
        slices_(find_slices(program_, uses_)),
        forms_(on_),
        meetings_(program_.value_count()),
        chooser_(on_, layouts, forms_, uses_, meetings_) {
    out_.ops.resize(program_.op_count());
    out_.lies.assign(program_.value_count(), -1);
  }

  Verdict run() {
    for (ValueId v : program_.region(function_.body).args) {
      out_.arguments.push_back(chooser_.resting(v));
      define(v, out_.arguments.back());
    }
    HEDDLE_TRY_VOID(decide_ops(function_.body));
    for (std::size_t i = 0; i < function_.results.size(); ++i) {
      const bool tensor = program_.type(function_.results[i]).is_tensor();
      out_.results.push_back(on_.split_id(tensor ? layouts_.results[i] : Split{}));
    }
    decide_return(function_.body, out_.results);
    return yes();
  }

 private:
  // The first form of a value is where it lies.
  void define(ValueId v, int split) {
    forms_.define(v, split);
    if (out_.lies[v] < 0) out_.lies[v] = split;
  }

  void take(Decision& decision, ValueId v, int split) {
    if (compute_again(decision, v, split)) return;
    if (const auto fetch = forms_.fetch(v, split)) {
      if (fetch->route != nullptr && !fetch->route->steps.empty()) ++meetings_[v];
      decision.fetches.push_back(*fetch);
    }
  }

  // Whether that is cheaper than to move the value.
  bool compute_again(Decision& decision, ValueId v, int split) {
    if (!on_.type_of(v).is_tensor() || forms_.has(v, split)) return false;
    const double moved = forms_.seconds_to(v, split);
    if (moved == 0) return false;
    const auto again = computed_again(on_, forms_, v, split, moved);
    if (!again) return false;
    for (const Again::Op& one : again->ops) {
      const Op& op = program_.op(program_.value(one.value).op);
      if (forms_.has(one.value, one.choice->results[0])) continue;
      for (std::size_t i = 0; i < op.operand_count; ++i)
        if (const auto fetch = forms_.fetch(program_.operands(op)[i], one.choice->operands[i]))
          decision.fetches.push_back(*fetch);
      decision.fetches.push_back(
          {.value = one.value, .to = one.choice->results[0], .again = one.choice});
      forms_.define(one.value, one.choice->results[0]);
    }
    return true;
  }

  // All but the return.
  Verdict decide_ops(RegionId region) {
    const std::vector<OpId>& ops = program_.region(region).ops;
    for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
      if (next_let_go_ < layouts_.let_go_at.size() && ops[i] == layouts_.let_go_at[next_let_go_]) {
        out_.ops[ops[i]].let_go = forms_.let_go();
        ++next_let_go_;
      }
      out_.ops[ops[i]].times = forms_.times();
      HEDDLE_TRY_VOID(decide_op(ops[i]));
    }
    return yes();
  }

  void decide_return(RegionId region, const std::vector<int>& splits,
                     const std::vector<ValueId>& kept = {}) {
    const OpId end = program_.region(region).ops.back();
    const auto returned = program_.operands(program_.op(end));
    auto choice = std::make_shared<Choice>();
    choice->operands = splits;
    for (std::size_t i = 0; i < splits.size(); ++i)
      if (i >= kept.size() || kept[i] == kNone || returned[i] != program_.region(region).args[i])
        take(out_.ops[end], returned[i], splits[i]);
    out_.ops[end].choice = std::move(choice);
  }

  Verdict decide_op(OpId id) {
    const Op& op = program_.op(id);
    switch (op.def->parts) {
      case Parts::constant:  // written where it is needed
      case Parts::unseen:
        return yes();
      case Parts::manual:
        return decide_manual(id);
      case Parts::loop:
        return decide_loop(id);
      case Parts::branch:
        return decide_branch(id);
      case Parts::reshard:
        decide_reshard(id);
        return yes();
      default:
        break;
    }
    bool tensors = op.result_count > 0;
    for (std::size_t i = 0; i < op.result_count; ++i)
      tensors = tensors && program_.type_of(program_.result(op, i)).is_tensor();
    if (!tensors) {
      decide_whole(id);
      return yes();
    }
    if (gives_operands(op)) {
      decide_pairs(id);
      return yes();
    }
    if (slices_.is_piece(id)) return yes();  // written by what puts it together with others
    if (op.def->parts == Parts::cut && !forms_.of(program_.result(op, 0)).empty()) return yes();
    if (op.def->parts == Parts::sort && decide_first_of_sort(id)) return yes();
    if (op.def->call == DeviceCall::top_k && decide_top_of_parts(id)) return yes();
    if (op.def->parts == Parts::join && decide_joined(id)) return yes();
    decide_chosen(id);
    return yes();
  }

  void take_captured(Decision& decision, const Op& op) {
    if (op.region_count == 0) return;
    for (ValueId v : captured_values(program_, op)) take(decision, v, on_.whole_id(v));
  }

  void decide_by(OpId id, std::shared_ptr<const Choice> choice) {
    const Op& op = program_.op(id);
    Decision& decision = out_.ops[id];
    decision.way = choice->way;
    decision.choice = std::move(choice);
    for (std::size_t i = 0; i < op.operand_count; ++i)
      take(decision, program_.operands(op)[i], decision.choice->operands[i]);
    take_captured(decision, op);
    int waited = 0;
    for (ValueId v : program_.operands(op)) waited = std::max(waited, meetings_[v]);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      define(program_.result(op, i), decision.choice->results[i]);
      meetings_[program_.result(op, i)] = waited;
    }
  }

  void decide_chosen(OpId id) { decide_by(id, chooser_.choose(id, manual_ > 0)); }

  // Each operand goes through by itself: as its result is to lie where that costs nothing, else as
  // it lies, and whoever needs it elsewhere moves it.
  void decide_pairs(OpId id) {
    const Op& op = program_.op(id);
    auto choice = std::make_shared<Choice>();
    choice->axes.resize(on_.rules.of(id).factors.size());
    choice->way = PartWay::local;
    choice->whole = false;
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const Split* lies = chooser_.split_for(op, i);
      int split = chooser_.resting(program_.result(op, i));
      if (lies != nullptr && lies->pending.empty() &&
          forms_.seconds_to(program_.operands(op)[i], split) > 0)
        split = on_.split_id(*lies);
      choice->operands.push_back(split);
    }
    choice->results = choice->operands;
    decide_by(id, std::move(choice));
  }

  // As it lies, or whole where a device would have elements that do not exist.
  int even_parts(ValueId v) {
    Split split = on_.splits[chooser_.resting(v)];
    split.pending.clear();
    for (const DimSplit& dim : split.dims)
      if (dim.padded() != dim.size) return on_.whole_id(v);
    return on_.split_id(std::move(split));
  }

  // What is no tensor, or has an effect alone.
  void decide_whole(OpId id) {
    const Op& op = program_.op(id);
    const bool by_parts = program_.attr(op, kPartsAttr) != nullptr;
    auto choice = std::make_shared<Choice>();
    for (ValueId v : program_.operands(op))
      choice->operands.push_back(by_parts ? even_parts(v) : on_.whole_id(v));
    for (std::size_t i = 0; i < op.result_count; ++i)
      choice->results.push_back(on_.whole_id(program_.result(op, i)));
    decide_by(id, std::move(choice));
  }

  // ---- slices that are no values of their own

  bool decide_joined(OpId id) {
    const Op& op = program_.op(id);
    const ValueId v = program_.result(op, 0);
    const int rests = chooser_.resting(v);
    std::vector<JoinedPart> parts = joined_parts(on_, op, rests, slices_, forms_);
    Decision& decision = out_.ops[id];
    if (parts.empty()) {
      for (ValueId operand : program_.operands(op))
        if (const OpId maker = program_.value(operand).op;
            maker != kNone && slices_.is_piece(maker) && forms_.of(operand).empty()) {
          decide_chosen(maker);
          out_.ops[maker].by_user = true;
          decision.first.push_back(maker);
        }
      return false;
    }
    decision.way = PartWay::joined;
    auto choice = std::make_shared<Choice>();
    choice->results = {rests};
    for (const JoinedPart& part : parts) take(decision, part.source, part.split);
    decision.choice = std::move(choice);
    decision.parts = std::move(parts);
    define(v, rests);
    return true;
  }

  // Each device sorts its part, and the first elements of all parts are sorted once more.
  bool decide_first_of_sort(OpId id) {
    const Op& op = program_.op(id);
    const std::optional<Line> line = on_.rules.line(id);
    if (!line || line->kind != Line::Kind::sort) return false;
    const Split* given = chooser_.split_for(op, 0);
    const std::int64_t size = program_.type_of(program_.operands(op)[0]).shape[line->dim];
    const std::int64_t first = wanted_first(program_, op, line->dim, slices_, uses_);
    if (!has_few(given, line->dim, size, first)) return false;
    Decision& decision = out_.ops[id];
    decision.way = PartWay::first_of_sort;
    auto choice = std::make_shared<Choice>();
    choice->line = line;
    choice->operands.assign(op.operand_count, on_.split_id(*given));
    for (ValueId v : program_.operands(op)) take(decision, v, choice->operands[0]);
    take_captured(decision, op);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const auto taken = slices_.of_sort.find(program_.result(op, i));
      if (taken == slices_.of_sort.end()) continue;  // by nobody
      for (OpId slice : taken->second) {
        const ValueId v = program_.result(program_.op(slice), 0);
        Split whole = *given;
        whole.dims[line->dim] = {program_.type_of(v).shape[line->dim], {}};
        choice->results.push_back(on_.split_id(std::move(whole)));
        decision.gives.push_back(slice);
        define(v, choice->results.back());
      }
    }
    decision.choice = std::move(choice);
    return true;
  }

  // Whether lines of an op lie in parts of a split, of which `first` elements each are a lot less.
  bool has_few(const Split* given, std::size_t dim, std::int64_t size, std::int64_t first) const {
    if (given == nullptr || !given->pending.empty() || given->dims[dim].whole() ||
        !given->dims[dim].is_block())
      return false;
    const SplitAxes axes = given->dims[dim].axes();
    const std::int64_t block = (size + total(axes) - 1) / total(axes);
    return first > 0 && first <= block && 2 * first * total(axes) <= size;
  }

  // Each device finds the greatest elements of its part; those of the lines are among them.
  bool decide_top_of_parts(OpId id) {
    const Op& op = program_.op(id);
    const Type& lines = program_.type_of(program_.operands(op)[0]);
    const std::size_t dim = lines.rank() - 1;
    const std::int64_t first = program_.type_of(program_.result(op, 0)).shape[dim];
    const Split* given = chooser_.split_for(op, 0);
    if (bits(lines.dtype) < 8 || !has_few(given, dim, lines.shape[dim], first)) return false;
    Decision& decision = out_.ops[id];
    decision.way = PartWay::top_of_parts;
    auto choice = std::make_shared<Choice>();
    choice->line = Line{.kind = Line::Kind::sort, .dim = dim};
    choice->operands = {on_.split_id(*given)};
    Split whole = *given;
    whole.dims[dim] = {first, {}};
    choice->results.assign(op.result_count, on_.split_id(std::move(whole)));
    decision.choice = std::move(choice);
    take(decision, program_.operands(op)[0], decision.choice->operands[0]);
    for (std::size_t i = 0; i < op.result_count; ++i)
      define(program_.result(op, i), decision.choice->results[i]);
    return true;
  }

  // ---- where a value is to lie

  // A sum that sdy asks for of what was never split over its axes is taken literally: each device's
  // copy is a contribution.
  void decide_reshard(OpId id) {
    const Op& op = program_.op(id);
    const ValueId source = program_.operands(op)[0], result = program_.result(op, 0);
    const int wanted = chooser_.resting(result);
    const SplitAxes sums = named_axes(program_, op, on_.mesh.mesh);
    bool pends = sums.empty() || comes_from(program_, on_.mesh.mesh, layouts_, source, sums);
    for (const Forms::Form& form : forms_.of(source))
      for (const SplitDigit& d : on_.splits[form.split].pending) pends = pends || overlap(sums, d);
    Decision& decision = out_.ops[id];
    decision.way = PartWay::reshard;
    auto choice = std::make_shared<Choice>();
    if (pends) {
      choice->operands = {wanted};
      choice->results = {wanted};
      take(decision, source, wanted);
      define(result, wanted);
    } else {
      Split base = on_.splits[wanted];
      for (DimSplit& dim : base.dims) {
        SplitAxes left;
        for (const SplitDigit& d : dim.axes())
          if (!overlap(sums, d)) left.push_back(d);
        dim = DimSplit::blocks(dim.size, left);
      }
      Split contributions = base;
      contributions.pending.insert(contributions.pending.end(), sums.begin(), sums.end());
      choice->operands = {on_.split_id(base)};
      choice->results = {on_.split_id(contributions)};
      take(decision, source, choice->operands[0]);
      forms_.define(result, choice->results[0]);
      take(decision, result, wanted);
      out_.lies[result] = wanted;
      forms_.withdraw(result, choice->results[0]);
    }
    decision.choice = std::move(choice);
  }

  // ---- regions

  // The body is per device along the manual axes; the others deal its values out like any.
  Verdict decide_manual(OpId id) {
    const Op& op = program_.op(id);
    const MeshDecl& mesh = on_.mesh;
    HEDDLE_TRY(ManualPlan plan, manual_plan(program_, op));
    const RegionId body = program_.regions(op)[0];
    if (plan.mesh != nullptr && !(plan.mesh->mesh == mesh.mesh))
      return reason("a manual computation is over mesh @{} ({}), but the program is for @{} ({})",
                    plan.mesh->name, plan.mesh->mesh.str(), mesh.name, mesh.mesh.str());
    if (plan.mesh != nullptr && plan.mesh->device_ids != mesh.device_ids)
      return reason(
          "a manual computation is over mesh @{}, whose devices come in another order than "
          "those of @{}",
          plan.mesh->name, mesh.name);
    // How a value lies outside and inside of the body.
    auto both = [&](ValueId outside, ValueId inside, const Sharding& said) {
      if (!program_.type_of(outside).is_tensor())
        return std::pair(on_.split_id(Split{}), on_.split_id(Split{}));
      const Split manual = manual_split(plan, said, program_.type_of(outside), mesh.mesh);
      Split wanted = on_.splits[chooser_.resting(inside)];
      wanted.pending.clear();
      if (auto joined = joined_split(manual, wanted))
        return std::pair(on_.split_id(*std::move(joined)), on_.split_id(std::move(wanted)));
      return std::pair(on_.split_id(manual), on_.whole_id(inside));
    };
    Decision& decision = out_.ops[id];
    decision.way = PartWay::manual;
    auto choice = std::make_shared<Choice>();
    const std::size_t mark = forms_.mark();
    for (std::size_t i = 0; i < op.operand_count; ++i) {
      const ValueId v = program_.operands(op)[i], arg = program_.region(body).args[i];
      const auto [outside, inside] = both(v, arg, plan.in[i]);
      take(decision, v, outside);
      define(arg, inside);
      choice->operands.push_back(outside);
      decision.inside.push_back(inside);
    }
    ++manual_;
    HEDDLE_TRY_VOID(decide_ops(body));
    std::vector<int> returned;
    const Op& end = program_.op(program_.region(body).ops.back());
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const auto [outside, inside] =
          both(program_.result(op, i), program_.operands(end)[i], plan.out[i]);
      returned.push_back(inside);
      choice->results.push_back(outside);
    }
    decide_return(body, returned);
    --manual_;
    forms_.forget_since(mark);
    for (std::size_t i = 0; i < op.result_count; ++i)
      define(program_.result(op, i), choice->results[i]);
    decision.choice = std::move(choice);
    return yes();
  }

  // `turns` of a loop; 0: it is none.
  Verdict decide_region(RegionId region, const std::vector<int>& args,
                        const std::vector<int>& returned, double turns,
                        const std::vector<ValueId>& kept = {}) {
    const std::size_t mark = forms_.enter(turns > 0, std::max(turns, 1.0));
    for (std::size_t i = 0; i < args.size(); ++i) {
      const ValueId v = program_.region(region).args[i];
      out_.lies[v] = args[i];
      if (i >= kept.size() || kept[i] == kNone)
        forms_.define(v, args[i]);
      else
        forms_.same_as(v, kept[i], args[i]);
    }
    HEDDLE_TRY_VOID(decide_ops(region));
    decide_return(region, returned, kept);
    forms_.leave(mark);
    return yes();
  }

  // What loops carry and branches give lies as propagation says; nothing is pending.
  int complete(ValueId v) {
    Split split = on_.splits[chooser_.resting(v)];
    split.pending.clear();
    return on_.split_id(std::move(split));
  }

  // What a turn adds to a sum that is nothing but added to may stay a contribution: the sum over
  // devices is made once, by whoever needs it behind the loop.
  Verdict decide_loop(OpId id) {
    const Op& op = program_.op(id);
    std::vector<int> carried;
    for (std::size_t i = 0; i < op.result_count; ++i)
      carried.push_back(complete(program_.result(op, i)));
    const std::size_t mark = forms_.mark();
    const std::vector<int> meetings = meetings_;
    HEDDLE_TRY_VOID(decide_loop_with(id, carried));
    std::vector<int> open = with_open_sums(op, carried);
    while (open != carried) {
      forms_.forget_since(mark);
      meetings_ = meetings;
      forget(id);
      HEDDLE_TRY_VOID(decide_loop_with(id, open));
      const std::vector<int> kept = those_left_open(op, carried, open);
      if (kept == open) return yes();
      open = kept;
      if (open == carried) {
        forms_.forget_since(mark);
        meetings_ = meetings;
        forget(id);
        return decide_loop_with(id, carried);
      }
    }
    return yes();
  }

  // The splits of contributions to sums, as the body has just given them.
  std::vector<int> with_open_sums(const Op& op, std::vector<int> carried) {
    const auto added = added_in_turns(on_, op, uses_);
    for (std::size_t i = 0; i < op.result_count; ++i)
      for (ValueId v : added[i]) {
        const int split = out_.lies[v];
        if (split < 0 || on_.splits[split].pending.empty() ||
            on_.splits[split].reduce != ReduceOp::sum ||
            !can_begin_open(program_.operands(op)[i], split))
          continue;
        carried[i] = split;
        break;
      }
    return carried;
  }
  bool can_begin_open(ValueId v, int split) const {
    constexpr double kCheap = 1e-3;
    return forms_.seconds_to(v, split) < kCheap;
  }

  // Of these, those for which nothing had to be moved in the body.
  std::vector<int> those_left_open(const Op& op, const std::vector<int>& carried,
                                   std::vector<int> open) const {
    const OpId end = program_.region(program_.regions(op)[1]).ops.back();
    for (std::size_t i = 0; i < op.result_count; ++i)
      for (const Fetch& fetch : out_.ops[end].fetches)
        if (open[i] != carried[i] && fetch.value == program_.operands(program_.op(end))[i])
          open[i] = carried[i];
    return open;
  }

  // As if nothing of it had been decided.
  void forget(OpId id) {
    const Op& op = program_.op(id);
    out_.ops[id] = {};
    for (std::size_t i = 0; i < op.result_count; ++i) out_.lies[program_.result(op, i)] = -1;
    for (RegionId region : program_.regions(op)) {
      for (ValueId v : program_.region(region).args) out_.lies[v] = -1;
      for (OpId inner : program_.region(region).ops) forget(inner);
    }
  }

  // Where the text does not say how often it goes round, as a search has it.
  double turns_of(const Op& loop) const {
    constexpr double kUnknownTrips = 10;
    const auto trips = trips_of(program_, loop);
    return trips ? std::max(1.0, static_cast<double>(*trips)) : kUnknownTrips;
  }

  Verdict decide_loop_with(OpId id, const std::vector<int>& carried) {
    const Op& op = program_.op(id);
    Decision& decision = out_.ops[id];
    decision.way = PartWay::loop;
    auto choice = std::make_shared<Choice>();
    choice->operands = choice->results = carried;
    for (std::size_t i = 0; i < op.result_count; ++i)
      take(decision, program_.operands(op)[i], carried[i]);
    const std::vector<ValueId> kept = kept_in_loop(program_, op);
    const RegionId condition = program_.regions(op)[0], body = program_.regions(op)[1];
    const ValueId goes_on =
        program_.operands(program_.op(program_.region(condition).ops.back()))[0];
    const double turns = turns_of(op);
    HEDDLE_TRY_VOID(decide_region(condition, carried, {on_.whole_id(goes_on)}, turns, kept));
    HEDDLE_TRY_VOID(decide_region(body, carried, carried, turns, kept));
    for (std::size_t i = 0; i < op.result_count; ++i) define(program_.result(op, i), carried[i]);
    decision.choice = std::move(choice);
    return yes();
  }

  Verdict decide_branch(OpId id) {
    const Op& op = program_.op(id);
    Decision& decision = out_.ops[id];
    decision.way = PartWay::branch;
    auto choice = std::make_shared<Choice>();
    const ValueId which = program_.operands(op)[0];
    choice->operands = {on_.whole_id(which)};
    take(decision, which, choice->operands[0]);
    for (std::size_t i = 0; i < op.result_count; ++i)
      choice->results.push_back(complete(program_.result(op, i)));
    for (RegionId region : program_.regions(op))
      HEDDLE_TRY_VOID(decide_region(region, {}, choice->results, 0));
    for (std::size_t i = 0; i < op.result_count; ++i)
      define(program_.result(op, i), choice->results[i]);
    decision.choice = std::move(choice);
    return yes();
  }

  Decisions& out_;
  OnMesh& on_;
  const Program& program_;
  const Function& function_;
  const Propagation& layouts_;
  const std::vector<int> uses_;
  const Slices slices_;
  Forms forms_;
  std::vector<int> meetings_;  // by ValueId: moves that it has waited for, one after the other
  Chooser chooser_;
  std::size_t next_let_go_ = 0;
  int manual_ = 0;  // inside bodies that are written per device
};

}  // namespace

Expected<std::unique_ptr<Decisions>> decide(const Program& program, const Function& function,
                                            RuleCache& rules, const MeshDecl& mesh,
                                            const Propagation& layouts, std::int64_t memory_limit) {
  auto decisions = std::make_unique<Decisions>(program, rules, mesh, memory_limit);
  HEDDLE_TRY_VOID(Decider(*decisions, function, layouts).run());
  return decisions;
}

}  // namespace heddle
