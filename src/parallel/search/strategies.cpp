#include "parallel/search/strategies.h"

#include <algorithm>

#include "heddle/hash.h"
#include "heddle/op.h"
#include "ir/rules/scan.h"
#include "parallel/edges.h"
#include "parallel/legal.h"
#include "parallel/op_parts.h"
#include "parallel/pending.h"

namespace heddle::search {

namespace {

// A split that leaves no device with less than half of its share is worth a look.
constexpr std::int64_t kLeastUneven = 2;

bool may_be_split(const Op& op, const IndexRule& rule, const Factor& factor) {
  if (factor.kind == FactorKind::parallel) return true;
  return gives_partial(factor.kind) && (rule.combine.op || op.def->parts == Parts::reduce_again);
}

SplitAxes digits_of(const OnMesh& on, const std::vector<int>& group) {
  SplitAxes digits;
  for (int a : group) digits.push_back({on.mesh.mesh.axes()[static_cast<std::size_t>(a)].size, a});
  return digits;
}

void append(SplitAxes& axes, const SplitAxes& more) {
  axes.insert(axes.end(), more.begin(), more.end());
}

// Calls `visit` with every assignment of mesh axes to factors.
template <typename Visit>
void each_assignment(const OnMesh& on, const Op& op, const IndexRule& rule, Visit visit) {
  FactorAxes axes(rule.factors.size());
  auto go = [&](auto&& self, std::size_t g) -> void {
    if (g == on.axis_groups.size()) return visit(axes);
    self(self, g + 1);
    const SplitAxes digits = digits_of(on, on.axis_groups[g]);
    const std::int64_t n = total(digits);
    for (std::size_t f = 0; f < axes.size(); ++f) {
      const Factor& factor = rule.factors[f];
      const std::int64_t pieces = total(axes[f]) * n;
      const bool even = factor.size % pieces == 0;
      if (!may_be_split(op, rule, factor) || factor.size < pieces) continue;
      if (!even && (factor.kind != FactorKind::parallel || factor.size < kLeastUneven * pieces))
        continue;
      append(axes[f], digits);
      self(self, g + 1);
      axes[f].resize(axes[f].size() - digits.size());
    }
  };
  go(go, 0);
}

// Every set of axes that a choice leaves free, but for none.
std::vector<SplitAxes> free_axes(const OnMesh& on, const Choice& choice) {
  std::vector<SplitAxes> free;
  for (const std::vector<int>& group : on.axis_groups) {
    SplitAxes digits = digits_of(on, group);
    if (std::ranges::none_of(choice.axes, [&](const SplitAxes& list) {
          return std::ranges::any_of(digits, [&](const SplitDigit& d) { return overlap(list, d); });
        }))
      free.push_back(std::move(digits));
  }
  std::vector<SplitAxes> sets;
  for (std::uint64_t bits = 1; bits < std::uint64_t{1} << free.size(); ++bits) {
    SplitAxes& set = sets.emplace_back();
    for (std::size_t i = 0; i < free.size(); ++i)
      if (bits >> i & 1) append(set, free[i]);
  }
  return sets;
}

// Ways with their splits, before they become lists.
struct Ways {
  std::vector<ChosenFactors> factors;
  std::vector<Choice> choices;
  std::vector<double> seconds;
};

class WayMaker {
 public:
  WayMaker(OnMesh& on, OpId id, const OpPlace& place)
      : on_(on), id_(id), op_(on.program.op(id)), rule_(on.rules.of(id)), place_(place) {}

  Ways run() {
    each_assignment(on_, op_, rule_, [&](const FactorAxes& axes) { add(axes); });
    return std::move(out_);
  }

 private:
  void add(const FactorAxes& axes) {
    FactorAxes legal = axes;
    make_legal(on_, id_, rule_, legal);
    if (legal != axes) return;
    const Choice choice = splits_for(on_, id_, rule_, axes);
    keep({axes}, choice);
    const auto sets = linear_operands(on_.program, op_, rule_);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const bool may_pend =
          std::ranges::all_of(sets[s], [&](std::size_t i) { return place_.pending >> i & 1; });
      if (!may_pend) continue;
      for (const SplitAxes& pending : free_axes(on_, choice)) {
        Choice passing = choice;
        if (pend(on_, op_, sets[s], pending, passing))
          keep({axes, static_cast<int>(s), pending}, passing);
      }
    }
  }

  void keep(ChosenFactors factors, const Choice& choice) {
    Price price = price_of(on_, op_, rule_, choice, {}, place_.stitched);
    price.edges = edge_seconds(on_, op_, rule_, choice);
    out_.factors.push_back(std::move(factors));
    out_.choices.push_back(choice);
    out_.seconds.push_back(price.total());
  }

  OnMesh& on_;
  const OpId id_;
  const Op& op_;
  const IndexRule& rule_;
  const OpPlace place_;
  Ways out_;
};

bool is_neutral_start(const Program& program, const Op& op, const IndexRule& rule, std::size_t i) {
  return rule.operands[i].starts_results && rule.combine.op &&
         is_neutral(program, program.operands(op)[i], *rule.combine.op);
}

}  // namespace

std::vector<int> block_splits(OnMesh& on, const Type& type) {
  std::vector<SplitAxes> axes(type.rank());
  std::vector<int> found;
  auto go = [&](auto&& self, std::size_t g) -> void {
    if (g == on.axis_groups.size()) {
      Split split = Split::whole(type);
      for (std::size_t d = 0; d < axes.size(); ++d)
        split.dims[d] = DimSplit::blocks(type.shape[d], axes[d]);
      found.push_back(on.split_id(std::move(split)));
      return;
    }
    self(self, g + 1);
    const SplitAxes digits = digits_of(on, on.axis_groups[g]);
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const std::int64_t pieces = total(axes[d]) * total(digits);
      if (type.shape[d] < pieces || type.shape[d] % pieces != 0) continue;
      append(axes[d], digits);
      self(self, g + 1);
      axes[d].resize(axes[d].size() - digits.size());
    }
  };
  go(go, 0);
  return found;
}

std::uint64_t StrategyTable::key_of(OpId id, const OpPlace& place) const {
  const Program& program = on_.program;
  const Op& op = program.op(id);
  std::uint64_t key = hash_combine(op.def->hash, op.operand_count);
  key = hash_combine(hash_combine(key, place.pending), place.stitched);
  for (ValueId v : program.operands(op)) key = hash_combine(key, program.value(v).type);
  for (std::size_t i = 0; i < op.result_count; ++i)
    key = hash_combine(key, program.value(program.result(op, i)).type);
  return key;
}

// Whether two ops of one row have the same ways: the same rule, of the same attributes and types.
bool StrategyTable::alike(OpId a, OpId b) const {
  const Program& program = on_.program;
  const Op &x = program.op(a), &y = program.op(b);
  if (x.def != y.def || x.operand_count != y.operand_count || x.result_count != y.result_count ||
      !(program.attrs_of(x) == program.attrs_of(y)))
    return false;
  const IndexRule &rule = on_.rules.of(a), &other = on_.rules.of(b);
  if (x.region_count > 0 && (!rule.combine.op || rule.combine.op != other.combine.op)) return false;
  if (on_.rules.line(a).has_value() != on_.rules.line(b).has_value()) return false;
  for (std::size_t i = 0; i < x.operand_count; ++i)
    if (program.value(program.operands(x)[i]).type != program.value(program.operands(y)[i]).type ||
        is_neutral_start(program, x, rule, i) != is_neutral_start(program, y, other, i))
      return false;
  for (std::size_t i = 0; i < x.result_count; ++i)
    if (program.value(program.result(x, i)).type != program.value(program.result(y, i)).type)
      return false;
  return true;
}

const Strategies& StrategyTable::of(OpId id, const OpPlace& place) {
  const std::uint64_t key = key_of(id, place);
  const auto [first, last] = known_.equal_range(key);
  for (auto it = first; it != last; ++it)
    if (it->second.place.pending == place.pending && it->second.place.stitched == place.stitched &&
        alike(it->second.op, id))
      return *it->second.strategies;
  return *known_.emplace(key, Known{id, place, made(id, place)})->second.strategies;
}

std::unique_ptr<Strategies> StrategyTable::made(OpId id, const OpPlace& place) {
  const Program& program = on_.program;
  const Op& op = program.op(id);
  Ways ways = WayMaker(on_, id, place).run();
  auto made = std::make_unique<Strategies>();
  made->number = count_++;
  made->ways = std::move(ways.factors);
  for (double seconds : ways.seconds) made->costs.push_back(cost_of_seconds(seconds));
  auto list = [&](ValueId v, auto split_of) {
    if (!program.type_of(v).is_tensor()) return -1;
    std::vector<int> splits;
    for (const Choice& choice : ways.choices) splits.push_back(split_of(choice));
    return lists_.id(std::move(splits));
  };
  for (std::size_t i = 0; i < op.operand_count; ++i)
    made->operands.push_back(
        list(program.operands(op)[i], [&](const Choice& c) { return c.operands[i]; }));
  for (std::size_t i = 0; i < op.result_count; ++i)
    made->results.push_back(
        list(program.result(op, i), [&](const Choice& c) { return c.results[i]; }));
  return made;
}

const Strategies& StrategyTable::fixed(OpId id, int split) {
  const Program& program = on_.program;
  const Op& op = program.op(id);
  auto list = [&](ValueId v) {
    if (!program.type_of(v).is_tensor()) return -1;
    return lists_.id({split >= 0 ? split : on_.whole_id(v)});
  };
  std::vector<int> operands, results;
  for (ValueId v : program.operands(op)) operands.push_back(list(v));
  for (std::size_t i = 0; i < op.result_count; ++i) results.push_back(list(program.result(op, i)));
  auto& kept = fixed_[{operands, results}];
  if (!kept)
    kept = std::make_unique<Strategies>(
        Strategies{count_++, std::vector<ChosenFactors>(1), {0}, operands, results});
  return *kept;
}

const Strategies& StrategyTable::whole(OpId id) { return fixed(id, -1); }

}  // namespace heddle::search
