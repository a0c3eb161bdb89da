// Propagation: every op is a site where the splits of its values meet in its factors.
#include <algorithm>
#include <set>

#include "heddle/op.h"
#include "heddle/parallel.h"
#include "parallel/even_parts.h"
#include "parallel/manual_splits.h"
#include "parallel/op_parts.h"
#include "parallel/seeds.h"
#include "parallel/wishes.h"

namespace heddle {

namespace {

// Values that meet in the factors of a rule: those of an op, or what a loop carries.
struct Site {
  OpId op = kNone;
  std::vector<ValueId> values;  // operands, then results
  const IndexRule* rule = nullptr;
  std::size_t operands = 0;
  bool passes = false;   // nothing but parallel factors, so that it goes first
  bool spreads = false;  // results have dimensions that no operand has
  bool backward = true,
       forward = true;  // whether operands may follow results, and results operands

  const std::vector<DimRule>& dims(std::size_t i) const {
    return i < operands ? rule->operands[i].dims : rule->results[i - operands].dims;
  }
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
    HEDDLE_TRY(Seeds seeds, seeds_of(program_, function_, options_));
    states_ = std::move(seeds.states);
    result_seeds_ = std::move(seeds.results);
    users_.resize(program_.value_count());
    parts_ = parted_values(program_);
    collect(function_.body);
    for (const Carried& c : options_.carried)
      tie(kNone, {arguments()[c.argument], program_.operands(returning())[c.result]});
    tie_groups();
    for (std::size_t s = 0; s < sites_.size(); ++s)
      for (ValueId v : sites_[s].values) users_[v].push_back(static_cast<std::uint32_t>(s));
    dirty_.assign(sites_.size(), false);
    for (std::size_t i : options_.first) activate(arguments()[i], 0);
    if (!options_.first.empty()) settle_all();
    std::set<std::int64_t> priorities{0};
    for (const State& s : states_)
      for (std::int64_t p : s.priority) priorities.insert(std::max<std::int64_t>(p, 0));
    for (std::int64_t p : priorities) {
      for (ValueId v = 0; v < states_.size(); ++v) activate(v, p);
      settle_all();
    }
    constexpr int kMostRounds = 8;  // stages of a network, each smaller than the one before
    for (int round = 0; round < kMostRounds && use_left_axes(); ++round) settle_all();
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

  void activate(ValueId v, std::int64_t priority) {
    State& s = states_[v];
    for (std::size_t d = 0; d < s.closed.size(); ++d)
      if (s.priority[d] == priority && !s.later.dims[d].whole() &&
          free_in(s, s.later.dims[d].digits, d)) {
        s.split.dims[d] = s.later.dims[d];
        touch(v);
      }
  }

  void settle_all() {
    // What is spread over a large value says little of how that is to lie: it comes last.
    settle({.only_passing = true, .spreads = false});
    settle({.only_passing = false, .spreads = false});
    settle({.only_passing = false, .spreads = true});
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
      const Parts parts = op.def->parts;
      if (op.def->form == Form::terminator) continue;
      if (parts == Parts::unseen) {
        const Attr* group = program_.attr(op, "group_id");
        if (group != nullptr && group->get<Attr::Integer>() != nullptr)
          groups_[group->get<Attr::Integer>()->value].push_back(program_.operands(op)[0]);
        continue;
      }
      if (parts == Parts::manual) {
        collect_manual(id, op);
        continue;
      }
      if (gives_operands(op)) {
        for (std::size_t i = 0; i < op.result_count; ++i)
          tie(id, {program_.operands(op)[i], program_.result(op, i)});
        continue;
      }
      const bool loop = parts == Parts::loop;
      if (loop || parts == Parts::branch) {
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
    if (op.result_count == 0) return;
    if (op.def->parts == Parts::barrier) {
      const Attr* allowed = program_.attr(op, "allowed_direction");
      const auto* word = allowed == nullptr ? nullptr : allowed->get<Attr::Enum>();
      const auto* number = allowed == nullptr ? nullptr : allowed->get<Attr::Integer>();
      auto allows = [&](std::string_view direction, std::int64_t bit) {
        return word != nullptr ? word->word == direction || word->word == "BOTH"
                               : number != nullptr && (number->value & bit) != 0;
      };
      site.forward = allows("FORWARD", 1);
      site.backward = allows("BACKWARD", 2);
    }
    site.rule = &rules_.of(id);
    site.spreads = spreads(*site.rule);
    site.passes = std::ranges::all_of(
        site.rule->factors, [](const Factor& f) { return f.kind == FactorKind::parallel; });
    sites_.push_back(std::move(site));
  }

  // Whether a result counts along a factor that no operand has: a broadcast.
  static bool spreads(const IndexRule& rule) {
    std::vector<bool> taken(rule.factors.size(), false), given = taken;
    auto mark = [](const std::vector<DimRule>& dims, std::vector<bool>& marks) {
      for (const DimRule& dim : dims)
        for (const IndexTerm& term : dim.terms) marks[static_cast<std::size_t>(term.factor)] = true;
    };
    for (const OperandRule& operand : rule.operands) mark(operand.dims, taken);
    for (const ResultRule& result : rule.results) mark(result.dims, given);
    for (std::size_t f = 0; f < given.size(); ++f)
      if (given[f] && !taken[f] && rule.factors[f].size > 1) return true;
    return false;
  }

  // ---- axes that nothing is left for

  // A few rows of an image cannot be dealt out over an axis that many rows were: products go on
  // with another dimension over it, and do not compute everything everywhere.
  bool use_left_axes() {
    bool changed = false;
    for (const Site& site : sites_) {
      if (site.op == kNone || program_.op(site.op).def->cls != OpClass::contract) continue;
      for (std::size_t i = 0; i < site.operands; ++i)
        if (use_left_axes(site, i)) changed = true;
    }
    return changed;
  }

  bool use_left_axes(const Site& site, std::size_t operand) {
    const State& from = states_[site.values[operand]];
    const std::vector<Factor>& factors = site.rule->factors;
    FactorAxes axes(factors.size());
    for (std::size_t d = 0; d < from.split.dims.size(); ++d)
      take_axes(site.dims(operand)[d], factors, from.split.dims[d], axes);
    bool changed = false;
    for (std::size_t f = 0; f < factors.size(); ++f)
      if (factors[f].kind == FactorKind::parallel && spanned(axes[f]) > factors[f].size)
        for (const SplitDigit& digit : axes[f])
          if (!digit.local() && place_left(site, operand, digit)) changed = true;
    return changed;
  }

  // On the longest dimension that the operand and the result share and that it divides.
  bool place_left(const Site& site, std::size_t operand, const SplitDigit& digit) {
    const ValueId result = site.values[site.operands];
    State& s = states_[result];
    if (s.split.uses(digit) || kept_free(s, {digit})) return false;
    std::optional<std::size_t> best;
    const std::vector<DimRule>& dims = site.dims(site.operands);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const DimSplit& now = s.split.dims[d];
      if (s.closed[d] || !now.is_block() || dims[d].terms.size() != 1 ||
          !is_plain(dims[d], site.rule->factors, now.size) ||
          !has_factor(site.dims(operand), dims[d].terms[0].factor) ||
          now.size % (total(now.axes()) * digit.extent) != 0)
        continue;
      if (!best || now.local() > s.split.dims[*best].local()) best = d;
    }
    if (!best) return false;
    DimSplit& dim = s.split.dims[*best];
    SplitAxes axes = dim.axes();
    axes.push_back(digit);
    dim = DimSplit::blocks(dim.size, axes);
    touch(result);
    return true;
  }

  static bool has_factor(const std::vector<DimRule>& dims, int factor) {
    return std::ranges::any_of(dims, [&](const DimRule& dim) {
      return dim.terms.size() == 1 && dim.terms[0].factor == factor && !dim.slides;
    });
  }

  // ---- to a fixed point

  struct Stage {
    bool only_passing = false;
    bool spreads = true;  // whether results of broadcasts follow their operands
  };

  void touch(ValueId v) {
    for (std::uint32_t s : users_[v]) dirty_[s] = true;
  }

  void settle(const Stage& stage) {
    constexpr int kMostSweeps = 200;
    stage_ = stage;
    if (!stage.only_passing)
      for (std::size_t s = 0; s < sites_.size(); ++s) dirty_[s] = true;
    for (bool changed = true; changed && sweeps_ < kMostSweeps; ++sweeps_) {
      changed = false;
      auto look = [&](std::size_t s) {
        if (!dirty_[s] || (stage.only_passing && !sites_[s].passes)) return;
        dirty_[s] = false;
        if (visit(sites_[s])) changed = true;
      };
      for (std::size_t s = 0; s < sites_.size(); ++s) look(s);
      for (std::size_t s = sites_.size(); s-- > 0;) look(s);
    }
  }

  bool can_pass(const Factor& factor) const { return factor.kind != FactorKind::whole; }

  // The wish that carries most, for every factor. Wishes that go on where others end are one.
  std::vector<Wish> gather_wishes(const Site& site, std::vector<std::string>* conflicts) {
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
          add_wish(wishes[f], {std::move(axes[f]), weight});
    }
    std::vector<Wish> best(factors.size());
    for (std::size_t f = 0; f < factors.size(); ++f) {
      if (wishes[f].empty()) continue;
      best[f] = *std::ranges::max_element(wishes[f], {}, &Wish::weight);
      if (conflicts != nullptr && wishes[f].size() > 1)
        conflicts->push_back(told(place_of(site, f), wishes[f], best[f], mesh_.mesh));
    }
    return best;
  }

  // A dimension that a factor counts along: "dimension 1 of the result".
  static std::string place_of(const Site& site, std::size_t factor) {
    for (std::size_t k = 0; k < site.values.size(); ++k) {
      const std::size_t i = (k + site.operands) % site.values.size();  // results first
      const std::vector<DimRule>& dims = site.dims(i);
      for (std::size_t d = 0; d < dims.size(); ++d)
        for (const IndexTerm& t : dims[d].terms)
          if (static_cast<std::size_t>(t.factor) == factor)
            return i < site.operands
                       ? fmt::format("dimension {} of operand {}", d, i)
                       : fmt::format("dimension {} of result {}", d, i - site.operands);
    }
    return "a dimension";
  }

  bool visit(const Site& site) {
    std::vector<Wish> wishes = gather_wishes(site, nullptr);
    bool any = false;
    for (const Wish& w : wishes) any = any || !w.axes.empty();
    if (!any) return false;
    for (std::size_t f = 0; f < wishes.size(); ++f) {
      SplitAxes& list = wishes[f].axes;
      // More pieces than elements would leave devices without any.
      while (!list.empty() && spanned(list) > site.rule->factors[f].size) list.pop_back();
      end_with_axis(list);
    }
    const bool forward = site.forward && (stage_.spreads || !site.spreads);
    bool changed = false;
    for (std::size_t i = 0; i < site.values.size(); ++i)
      if ((i < site.operands ? site.backward : forward) &&
          extend(site, i, axes_in(site.dims(i), wishes))) {
        touch(site.values[i]);
        changed = true;
      }
    return changed;
  }

  // An axis splits one dimension of a value. What else an op splits over it, such as what it sums
  // over, does not keep it out of values that do not have that.
  static FactorAxes axes_in(const std::vector<DimRule>& dims, const std::vector<Wish>& wishes) {
    FactorAxes axes;
    for (const Wish& wish : kept_in(dims, wishes)) axes.push_back(wish.axes);
    return axes;
  }

  static std::vector<Wish> kept_in(const std::vector<DimRule>& dims,
                                   const std::vector<Wish>& wishes) {
    std::vector<Wish> here(wishes.size());
    for (const DimRule& dim : dims)
      for (const IndexTerm& term : dim.terms) {
        const auto f = static_cast<std::size_t>(term.factor);
        here[f] = wishes[f];
      }
    keep_apart(here);
    return here;
  }

  bool extend(const Site& site, std::size_t i, const FactorAxes& axes) {
    State& s = states_[site.values[i]];
    const std::vector<DimRule>& dims = site.dims(i);
    if (dims.size() != s.split.dims.size()) return false;
    bool changed = false;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (s.closed[d]) continue;
      DimSplit& now = s.split.dims[d];
      const DimSplit wanted =
          within_parts(dim_split(dims[d], site.rule->factors, axes, now.size), site.values[i], d);
      if (wanted == now || wanted.whole()) continue;
      const SplitAxes old = now.axes(), more = wanted.axes();
      if (more.size() < old.size() || (!old.empty() && !extends(now, wanted))) continue;
      if (old == more) continue;
      if (!free_in(s, wanted.digits, d) || kept_free(s, more)) continue;
      if (wanted.padded() != wanted.size && !wanted.is_block()) continue;
      now = wanted;
      changed = true;
    }
    return changed;
  }

  // A device has its share of each part of a value, so that parts can be taken where they lie.
  DimSplit within_parts(DimSplit wanted, ValueId v, std::size_t dim) const {
    const auto& [parted, count] = parts_[v];
    const std::int64_t pieces = total(wanted.axes());
    if (count == 1 || parted != dim || pieces == 1 || !wanted.is_block() ||
        wanted.size % (count * pieces) != 0)
      return wanted;
    wanted.digits.insert(wanted.digits.begin(), SplitDigit{count});
    wanted.digits.back().extent = wanted.size / count / pieces;
    if (wanted.digits.back().extent == 1) wanted.digits.pop_back();
    return wanted;
  }

  // Every piece of `more` lies in one of `now`: the same axes first, then others.
  static bool extends(const DimSplit& now, const DimSplit& more) {
    const SplitAxes before = now.axes(), after = more.axes();
    return now.is_block() && more.is_block() && after.size() > before.size() &&
           starts_with(after, before);
  }

  static bool kept_free(const State& s, const SplitAxes& axes) {
    return std::ranges::any_of(axes, [&](const SplitDigit& d) { return overlap(s.kept_free, d); });
  }

  // Once nothing changes any more: where wishes still differ.
  void report() {
    constexpr std::size_t kMostTold = 1000;
    for (const Site& site : sites_) {
      std::vector<std::string> all;
      const std::vector<Wish> wishes = gather_wishes(site, &all);
      std::vector<bool> told_of(wishes.size(), false);
      for (std::size_t i = 0; i < site.values.size(); ++i) {
        const std::vector<Wish> kept = kept_in(site.dims(i), wishes);
        for (std::size_t f = 0; f < wishes.size(); ++f) {
          if (kept[f].weight == 0 || kept[f].axes == wishes[f].axes || told_of[f]) continue;
          told_of[f] = true;
          all.push_back(told(place_of(site, f), wishes[f], kept[f], mesh_.mesh));
        }
      }
      for (std::string& text : all)
        if (conflicts_.size() < kMostTold) conflicts_.push_back({site.op, std::move(text)});
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
  std::vector<PartsOf> parts_;  // by ValueId
  std::vector<std::optional<Split>> result_seeds_;
  std::vector<Conflict> conflicts_;
  std::vector<bool> dirty_ = {};
  Stage stage_;
  int sweeps_ = 0;
};

}  // namespace

Expected<Propagation> propagate(const Program& program, const Function& function, RuleCache& rules,
                                const PropagateOptions& options) {
  if (function.body == kNone) return reason("function @{} has no body", function.name);
  if (options.mesh >= program.meshes.size()) return reason("the program has no such mesh");
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  const MeshDecl& mesh = program.meshes[options.mesh];
  auto order = [&](const ValueLayout* said) {
    const bool other = said != nullptr && program.meshes[said->mesh].mesh == mesh.mesh;
    return (other ? program.meshes[said->mesh] : mesh).device_ids;
  };
  for (const Carried& c : options.carried) {
    if (c.argument >= arguments.size() || c.result >= function.results.size())
      return reason("result {} cannot be carried to argument {}: @{} has {} and {}", c.result,
                    c.argument, function.name, function.results.size(), arguments.size());
    const Type &from = program.type(function.results[c.result]),
               &to = program.type_of(arguments[c.argument]);
    if (!(from == to))
      return reason("result {} of @{} is {}, and argument {}, to which it is carried, is {}",
                    c.result, function.name, from.str(), c.argument, to.str());
    const LayoutId said =
        c.result < function.result_layouts.size() ? function.result_layouts[c.result] : kNone;
    if (order(program.layout(said)) != order(program.layout_of(arguments[c.argument])))
      return reason(
          "result {} of @{} and argument {}, to which it is carried, lie on meshes whose "
          "devices come in another order",
          c.result, function.name, c.argument);
  }
  return Propagator(program, function, rules, options).run();
}

}  // namespace heddle
