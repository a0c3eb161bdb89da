// Propagation: every op is a site where the splits of its values meet in its factors.
#include <algorithm>
#include <set>

#include "heddle/op.h"
#include "heddle/parallel.h"
#include "parallel/manual_splits.h"
#include "parallel/wishes.h"

namespace heddle {

namespace {

// Values that meet in the factors of a rule: those of an op, or what a loop carries.
struct Site {
  OpId op = kNone;
  std::vector<ValueId> values;  // operands, then results
  const IndexRule* rule = nullptr;
  std::size_t operands = 0;
  bool passes = false;  // nothing but parallel factors, so that it goes first
  bool backward = true,
       forward = true;  // whether operands may follow results, and results operands

  const std::vector<DimRule>& dims(std::size_t i) const {
    return i < operands ? rule->operands[i].dims : rule->results[i - operands].dims;
  }
};

struct State {
  Split split;
  std::vector<bool> closed;
  std::vector<std::int64_t> priority;
  AxisList kept_free;  // axes that the author wants without use
  Split later;         // dimensions that wait for their priority
};

class Propagator {
 public:
  Propagator(const Program& program, const Function& function, RuleCache& rules,
             const PropagateOptions& options)
      : program_(program),
        function_(function),
        rules_(rules),
        options_(options),
        mesh_(program.meshes[options.mesh]) {}

  Expected<Propagation> run() {
    states_.resize(program_.value_count());
    users_.resize(program_.value_count());
    for (ValueId v = 0; v < program_.value_count(); ++v) state(v);
    HEDDLE_TRY_VOID(seed_region(function_.body));
    HEDDLE_TRY_VOID(seed_boundary());
    collect(function_.body);
    for (const Carried& c : options_.carried)
      tie(kNone, {arguments()[c.argument], program_.operands(returning())[c.result]});
    tie_groups();
    for (std::size_t s = 0; s < sites_.size(); ++s)
      for (ValueId v : sites_[s].values) users_[v].push_back(static_cast<std::uint32_t>(s));
    dirty_.assign(sites_.size(), false);
    std::set<std::int64_t> priorities{0};
    for (const State& s : states_)
      for (std::int64_t p : s.priority) priorities.insert(std::max<std::int64_t>(p, 0));
    for (std::int64_t p : priorities) {
      activate(p);
      for (bool only_passing : {true, false}) settle(only_passing);
    }
    report();
    Propagation out;
    out.sweeps = sweeps_;
    out.conflicts = std::move(conflicts_);
    for (State& s : states_) out.splits.push_back(std::move(s.split));
    const auto returned = program_.operands(returning());
    for (std::size_t i = 0; i < function_.results.size(); ++i) {
      // A closed result lies as its value says, and is whole where that says nothing.
      const bool follows = !options_.closed_boundary || program_.layout_of(returned[i]) != nullptr;
      out.results.push_back(carried_to(i) != kNone ? out.splits[carried_to(i)]
                            : result_seeds_[i]     ? *result_seeds_[i]
                            : follows              ? out.splits[returned[i]]
                                                   : Split::whole(program_.type_of(returned[i])));
    }
    return out;
  }

 private:
  const std::vector<ValueId>& arguments() const { return program_.region(function_.body).args; }
  // The argument that a result is carried to.
  ValueId carried_to(std::size_t result) const {
    for (const Carried& c : options_.carried)
      if (c.result == result) return arguments()[c.argument];
    return kNone;
  }
  const Op& returning() const { return program_.op(program_.region(function_.body).ops.back()); }

  // ---- what is said

  State& state(ValueId v) {
    State& s = states_[v];
    const Type& type = program_.type_of(v);
    if (type.is_tensor() && s.closed.empty() && s.split.dims.empty()) {
      s.split = Split::whole(type);
      s.later = s.split;
      s.closed.assign(type.rank(), false);
      s.priority.assign(type.rank(), 0);
    }
    return s;
  }

  Expected<Split> split_on_mesh(const ValueLayout& said) const {
    const MeshDecl& decl = program_.meshes[said.mesh];
    if (decl.mesh == mesh_.mesh) return split_of(said.layout, mesh_.mesh);
    if (decl.mesh.devices() == 1) return split_of(said.layout, decl.mesh);
    return reason("a value lies on mesh @{} ({}), but the program is for @{} ({})", decl.name,
                  decl.mesh.str(), mesh_.name, mesh_.mesh.str());
  }

  Verdict seed(ValueId v, const ValueLayout& said) {
    State& s = state(v);
    HEDDLE_TRY(Split split, split_on_mesh(said));
    s.later = split;
    s.split.pending = split.pending;
    s.split.reduce = split.reduce;
    for (std::size_t d = 0; d < s.closed.size(); ++d) {
      const bool hinted = d < said.hints.dims.size();
      s.closed[d] = !hinted || !said.hints.dims[d].open;
      s.priority[d] = hinted ? std::max<std::int64_t>(said.hints.dims[d].priority, 0) : 0;
    }
    for (const ShardingAxis& axis : said.hints.replicated)
      for (std::size_t a = 0; a < mesh_.mesh.axes().size(); ++a)
        if (mesh_.mesh.axes()[a].name == axis.name)
          if (auto part = axis_part(mesh_.mesh.axes()[a].size, axis))
            s.kept_free.push_back({part->size, static_cast<int>(a), part->stride});
    return yes();
  }

  Verdict seed_region(RegionId region) {
    for (ValueId v : program_.region(region).args)
      if (const ValueLayout* l = program_.layout_of(v)) HEDDLE_TRY_VOID(seed(v, *l));
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i)
        if (const ValueLayout* l = program_.layout_of(program_.result(op, i)))
          HEDDLE_TRY_VOID(seed(program_.result(op, i), *l));
      if (op.def->name == "sdy.manual_computation") HEDDLE_TRY_VOID(seed_manual(op));
      for (RegionId inner : program_.regions(op)) HEDDLE_TRY_VOID(seed_region(inner));
    }
    return yes();
  }

  // The body's values are what one place along the manual axes has: only the others are for use.
  Verdict seed_manual(const Op& op) {
    HEDDLE_TRY(ManualPlan plan, manual_plan(program_, op));
    const RegionId body = program_.regions(op)[0];
    if (plan.mesh != nullptr && !(plan.mesh->mesh == mesh_.mesh)) return yes();  // told later
    keep_free(body, manual_axes(plan, mesh_.mesh));
    auto lean = [&](ValueId inside, const Sharding& said, bool argument) {
      const MeshDecl* mesh = program_.find_mesh(said.mesh);
      State& s = state(inside);
      if (mesh == nullptr || !(mesh->mesh == mesh_.mesh) || !program_.type_of(inside).is_tensor() ||
          (!argument && (program_.layout_of(inside) != nullptr || !s.later.is_whole())))
        return;
      s.later.dims = free_split(plan, said, program_.type_of(inside), mesh_.mesh).dims;
      for (std::size_t d = 0; argument && d < s.closed.size() && d < said.dims.size(); ++d)
        s.closed[d] = !said.dims[d].open;
    };
    for (std::size_t i = 0; i < op.operand_count; ++i)
      lean(program_.region(body).args[i], plan.in[i], true);
    for (std::size_t i = 0; i < op.result_count; ++i) lean(returned(body, i), plan.out[i], false);
    return yes();
  }

  void keep_free(RegionId region, const AxisList& axes) {
    auto keep = [&](ValueId v) {
      AxisList& free = state(v).kept_free;
      free.insert(free.end(), axes.begin(), axes.end());
    };
    for (ValueId v : program_.region(region).args) keep(v);
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i) keep(program_.result(op, i));
      for (RegionId inner : program_.regions(op)) keep_free(inner, axes);
    }
  }

  Verdict seed_boundary() {
    const std::vector<ValueId>& args = arguments();
    result_seeds_.resize(function_.results.size());
    for (std::size_t i = 0; i < function_.result_layouts.size(); ++i)
      if (const ValueLayout* l = program_.layout(function_.result_layouts[i])) {
        HEDDLE_TRY(result_seeds_[i], split_on_mesh(*l));
      }
    for (const Seed& s : options_.seeds) {
      const std::size_t count = s.is_result ? function_.results.size() : args.size();
      if (s.index >= count)
        return reason("there is no {} {}; the function has {}", s.is_result ? "result" : "argument",
                      s.index, count);
      const Type& type =
          s.is_result ? program_.type(function_.results[s.index]) : program_.type_of(args[s.index]);
      auto layout = to_layout(s.sharding, mesh_, type, program_.axes.mem());
      if (!layout)
        return reason("{} {}: {}", s.is_result ? "result" : "argument", s.index, layout.reason());
      layout->mesh = options_.mesh;
      if (s.is_result) {
        HEDDLE_TRY(result_seeds_[s.index], split_on_mesh(*layout));
      } else {
        HEDDLE_TRY_VOID(seed(args[s.index], *layout));
      }
    }
    seed_carried();
    if (options_.closed_boundary)
      for (ValueId v : args) state(v).closed.assign(state(v).closed.size(), true);
    // What is returned leans towards where the result is to lie.
    const auto returned = program_.operands(returning());
    for (std::size_t i = 0; i < result_seeds_.size(); ++i) {
      if (!result_seeds_[i]) continue;
      State& s = state(returned[i]);
      if (program_.layout_of(returned[i]) == nullptr && s.later.is_whole())
        s.later.dims = result_seeds_[i]->dims;
    }
    return yes();
  }

  bool is_seeded(std::size_t argument) const {
    if (program_.layout_of(arguments()[argument]) != nullptr) return true;
    return std::ranges::any_of(options_.seeds,
                               [&](const Seed& s) { return !s.is_result && s.index == argument; });
  }

  // What is carried lies as the argument does; a word of the result is one of the argument.
  void seed_carried() {
    for (const Carried& c : options_.carried) {
      State& s = state(arguments()[c.argument]);
      std::optional<Split>& said = result_seeds_[c.result];
      if (is_seeded(c.argument)) {
        said = s.later;
      } else if (said) {
        s.later = *said;
        s.closed.assign(s.closed.size(), true);
      }
    }
  }

  void activate(std::int64_t priority) {
    for (ValueId v = 0; v < states_.size(); ++v) {
      State& s = states_[v];
      for (std::size_t d = 0; d < s.closed.size(); ++d)
        if (s.priority[d] == priority && !s.later.dims[d].whole() &&
            free_in(s, s.later.dims[d].digits, d)) {
          s.split.dims[d] = s.later.dims[d];
          touch(v);
        }
    }
  }

  bool free_in(const State& s, const std::vector<SplitDigit>& digits, std::size_t dim) const {
    for (const SplitDigit& digit : digits) {
      if (digit.local()) continue;
      if (overlap(s.split.pending, digit)) return false;
      for (std::size_t d = 0; d < s.split.dims.size(); ++d)
        if (d != dim && overlap(s.split.dims[d].digits, digit)) return false;
    }
    return true;
  }

  // ---- sites

  const IndexRule* identity_rule(ValueId like, std::size_t count) {
    const Type& type = program_.type_of(like);
    IndexRule rule;
    for (std::int64_t size : type.shape) rule.factors.push_back({size, FactorKind::parallel});
    OperandRule operand;
    for (std::size_t d = 0; d < type.rank(); ++d)
      operand.dims.push_back({{{static_cast<int>(d)}}, 0, 1});
    rule.operands.assign(count, operand);
    ties_.push_back(std::make_unique<IndexRule>(std::move(rule)));
    return ties_.back().get();
  }

  void tie(OpId op, const std::vector<ValueId>& values) {
    if (!program_.type_of(values[0]).is_tensor()) return;
    for (ValueId v : values) state(v);
    Site site;
    site.op = op;
    site.values = values;
    site.rule = identity_rule(values[0], values.size());
    site.operands = values.size();
    site.passes = true;
    sites_.push_back(std::move(site));
  }

  ValueId returned(RegionId region, std::size_t i) const {
    return program_.operands(program_.op(program_.region(region).ops.back()))[i];
  }

  void collect(RegionId region) {
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      const std::string_view name = op.def->name;
      if (op.def->form == Form::terminator) continue;
      if (name == "sdy.sharding_group") {
        const Attr* group = program_.attr(op, "group_id");
        if (group != nullptr && group->get<Attr::Integer>() != nullptr)
          groups_[group->get<Attr::Integer>()->value].push_back(program_.operands(op)[0]);
        continue;
      }
      if (name == "sdy.manual_computation") {
        collect_manual(id, op);
        continue;
      }
      const bool loop = name == "stablehlo.while";
      if (loop || name == "stablehlo.if" || name == "stablehlo.case") {
        for (RegionId inner : program_.regions(op)) collect(inner);
        for (std::size_t i = 0; i < op.result_count; ++i) {
          std::vector<ValueId> values{program_.result(op, i)};
          if (loop) {
            values.push_back(program_.operands(op)[i]);
            for (RegionId inner : program_.regions(op))
              values.push_back(program_.region(inner).args[i]);
            values.push_back(returned(program_.regions(op)[1], i));
          } else {
            for (RegionId inner : program_.regions(op)) values.push_back(returned(inner, i));
          }
          tie(id, values);
        }
        continue;
      }
      site_of(id, op);
    }
  }

  // What lies outside says how the body's arguments lie, and its results and those outside agree.
  void collect_manual(OpId id, const Op& op) {
    const RegionId body = program_.regions(op)[0];
    collect(body);
    auto meet = [&](ValueId outside, ValueId inside, bool backward) {
      const Type &whole = program_.type_of(outside), &local = program_.type_of(inside);
      if (!whole.is_tensor() || whole.elements() == 0) return;
      ties_.push_back(std::make_unique<IndexRule>(body_rule(whole, local)));
      sites_.push_back({id, {outside, inside}, ties_.back().get(), 1, true, backward, true});
    };
    for (std::size_t i = 0; i < op.operand_count; ++i)
      meet(program_.operands(op)[i], program_.region(body).args[i], false);
    for (std::size_t i = 0; i < op.result_count; ++i)
      meet(program_.result(op, i), returned(body, i), true);
  }

  void tie_groups() {
    for (const auto& [_, values] : groups_)
      if (std::ranges::all_of(values, [&](ValueId v) {
            return program_.type_of(v).is_tensor() &&
                   program_.type_of(v).shape == program_.type_of(values[0]).shape;
          }))
        tie(kNone, values);
  }

  void site_of(OpId id, const Op& op) {
    Site site;
    site.op = id;
    for (ValueId v : program_.operands(op)) site.values.push_back(v);
    site.operands = site.values.size();
    for (std::size_t i = 0; i < op.result_count; ++i) site.values.push_back(program_.result(op, i));
    for (ValueId v : site.values) state(v);
    if (op.result_count == 0) return;
    if (op.def->name == "sdy.propagation_barrier") {
      const Attr* allowed = program_.attr(op, "allowed_direction");
      const auto* word = allowed == nullptr ? nullptr : allowed->get<Attr::Enum>();
      const std::string_view direction = word == nullptr ? "NONE" : std::string_view(word->word);
      site.forward = direction == "FORWARD" || direction == "BOTH";
      site.backward = direction == "BACKWARD" || direction == "BOTH";
    }
    site.rule = &rules_.of(id);
    site.passes = std::ranges::all_of(
        site.rule->factors, [](const Factor& f) { return f.kind == FactorKind::parallel; });
    sites_.push_back(std::move(site));
  }

  // ---- to a fixed point

  void touch(ValueId v) {
    for (std::uint32_t s : users_[v]) dirty_[s] = true;
  }

  void settle(bool only_passing) {
    constexpr int kMostSweeps = 200;
    if (!only_passing)
      for (std::size_t s = 0; s < sites_.size(); ++s) dirty_[s] = true;
    for (bool changed = true; changed && sweeps_ < kMostSweeps; ++sweeps_) {
      changed = false;
      auto look = [&](std::size_t s) {
        if (!dirty_[s] || (only_passing && !sites_[s].passes)) return;
        dirty_[s] = false;
        if (visit(sites_[s], nullptr)) changed = true;
      };
      for (std::size_t s = 0; s < sites_.size(); ++s) look(s);
      for (std::size_t s = sites_.size(); s-- > 0;) look(s);
    }
  }

  bool can_pass(const Factor& factor) const { return factor.kind != FactorKind::whole; }

  // The wish that carries most, for every factor. Wishes that go on where others end are one.
  std::vector<Wish> gather_wishes(const Site& site, std::string* conflict) {
    const std::vector<Factor>& factors = site.rule->factors;
    std::vector<std::vector<Wish>> wishes(factors.size());
    for (std::size_t i = 0; i < site.values.size(); ++i) {
      const State& s = states_[site.values[i]];
      const std::vector<DimRule>& dims = site.dims(i);
      bool any = false;
      for (const DimSplit& d : s.split.dims) any = any || !d.digits.empty();
      if (!any || dims.size() != s.split.dims.size()) continue;
      const auto weight = static_cast<double>(program_.type_of(site.values[i]).bytes()) + 1;
      FactorAxes axes(factors.size());
      for (std::size_t d = 0; d < dims.size(); ++d)
        take_axes(dims[d], factors, s.split.dims[d], axes);
      for (std::size_t f = 0; f < factors.size(); ++f)
        if (!axes[f].empty() && can_pass(factors[f]))
          add_wish(wishes[f], {std::move(axes[f]), weight, site.values[i]});
    }
    std::vector<Wish> best(factors.size());
    for (std::size_t f = 0; f < factors.size(); ++f) {
      if (wishes[f].empty()) continue;
      best[f] = *std::ranges::max_element(wishes[f], {}, &Wish::weight);
      if (conflict != nullptr && wishes[f].size() > 1)
        *conflict = told(wishes[f], best[f], mesh_.mesh);
    }
    return best;
  }

  bool visit(const Site& site, std::string* conflict) {
    std::vector<Wish> wishes = gather_wishes(site, conflict);
    bool any = false;
    for (const Wish& w : wishes) any = any || !w.axes.empty();
    if (!any) return false;
    keep_apart(wishes);
    FactorAxes axes;
    for (std::size_t f = 0; f < wishes.size(); ++f) {
      AxisList list = std::move(wishes[f].axes);
      // More pieces than elements would leave devices without any.
      while (!list.empty() && total(list) > site.rule->factors[f].size) list.pop_back();
      axes.push_back(std::move(list));
    }
    bool changed = false;
    for (std::size_t i = 0; i < site.values.size(); ++i)
      if ((i < site.operands ? site.backward : site.forward) && extend(site, i, axes)) {
        touch(site.values[i]);
        changed = true;
      }
    return changed;
  }

  bool extend(const Site& site, std::size_t i, const FactorAxes& axes) {
    State& s = states_[site.values[i]];
    const std::vector<DimRule>& dims = site.dims(i);
    if (dims.size() != s.split.dims.size()) return false;
    bool changed = false;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (s.closed[d]) continue;
      DimSplit& now = s.split.dims[d];
      const DimSplit wanted = dim_split(dims[d], site.rule->factors, axes, now.size);
      if (wanted == now || wanted.whole()) continue;
      const AxisList old = now.axes(), more = wanted.axes();
      if (more.size() < old.size() || (!old.empty() && !extends(now, wanted))) continue;
      if (old == more) continue;
      if (!free_in(s, wanted.digits, d) || kept_free(s, more)) continue;
      if (wanted.padded() != wanted.size && !wanted.is_block()) continue;
      now = wanted;
      changed = true;
    }
    return changed;
  }

  // Every piece of `more` lies in one of `now`: the same axes first, then others.
  static bool extends(const DimSplit& now, const DimSplit& more) {
    const AxisList before = now.axes(), after = more.axes();
    return now.is_block() && more.is_block() && after.size() > before.size() &&
           starts_with(after, before);
  }

  static bool kept_free(const State& s, const AxisList& axes) {
    return std::ranges::any_of(axes, [&](const SplitDigit& d) { return overlap(s.kept_free, d); });
  }

  // Once nothing changes any more: where wishes still differ.
  void report() {
    constexpr std::size_t kMostTold = 1000;
    for (const Site& site : sites_) {
      std::string text;
      gather_wishes(site, &text);
      if (!text.empty() && conflicts_.size() < kMostTold) conflicts_.push_back({site.op, text});
    }
  }

  const Program& program_;
  const Function& function_;
  RuleCache& rules_;
  const PropagateOptions& options_;
  const MeshDecl& mesh_;
  std::vector<State> states_;
  std::vector<Site> sites_;
  std::vector<std::unique_ptr<IndexRule>> ties_;
  std::map<std::int64_t, std::vector<ValueId>> groups_;  // of sdy.sharding_group
  std::vector<std::vector<std::uint32_t>> users_;
  std::vector<std::optional<Split>> result_seeds_;
  std::vector<Conflict> conflicts_;
  std::vector<bool> dirty_ = {};
  int sweeps_ = 0;
};

}  // namespace

Expected<Propagation> propagate(const Program& program, const Function& function, RuleCache& rules,
                                const PropagateOptions& options) {
  if (function.body == kNone) return reason("function @{} has no body", function.name);
  if (options.mesh >= program.meshes.size()) return reason("the program has no such mesh");
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  for (const Carried& c : options.carried) {
    if (c.argument >= arguments.size() || c.result >= function.results.size())
      return reason("result {} cannot be carried to argument {}: @{} has {} and {}", c.result,
                    c.argument, function.name, function.results.size(), arguments.size());
    const Type &from = program.type(function.results[c.result]),
               &to = program.type_of(arguments[c.argument]);
    if (!(from == to))
      return reason("result {} of @{} is {}, and argument {}, to which it is carried, is {}",
                    c.result, function.name, from.str(), c.argument, to.str());
  }
  return Propagator(program, function, rules, options).run();
}

}  // namespace heddle
