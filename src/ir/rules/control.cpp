// Index rules of loops, scans and branches: a dimension can be split where every op of the regions
// leaves its elements apart; all others are whole.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "ir/clone.h"
#include "ir/eval/chlo.h"
#include "ir/rules/index_rules.h"
#include "ir/rules/piece_emit.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

const Op& terminator(const Program& program, RegionId region) {
  return program.op(program.region(region).ops.back());
}

// All that an op reads: its operands and what its regions capture.
std::vector<ValueId> inputs_of(const Program& program, const Op& op) {
  std::vector<ValueId> values(program.operands(op).begin(), program.operands(op).end());
  for (ValueId v : captured_values(program, op)) values.push_back(v);
  return values;
}

bool is_loop(const Op& op) { return op.def->control == Control::loop; }
bool is_scan(const Op& op) { return op.def->control == Control::scan; }

// The rules of the ops in regions, each made once however often it is asked for.
class InnerRules {
 public:
  explicit InnerRules(const Program& program) : program_(program) {}
  const IndexRule& of(const Op& op) {
    auto it = rules_.find(&op);
    return it != rules_.end() ? it->second
                              : rules_.emplace(&op, index_rule(program_, op)).first->second;
  }

 private:
  const Program& program_;
  std::map<const Op*, IndexRule> rules_;
};

// A value around the op and one in its regions that hold the same elements; the inner one may be a
// slice, without one dimension of the outer one.
struct Tie {
  ValueId outer, inner;
  std::optional<std::size_t> sliced = {};
};

std::vector<Tie> scan_ties(const Program& program, const Op& op) {
  const chlo::ScanParts parts = *chlo::scan_parts(program, op);
  const RegionId body = program.regions(op)[0];
  const auto dim = static_cast<std::size_t>(parts.dimension);
  const std::vector<ValueId>& args = program.region(body).args;
  const std::span<const ValueId> given = program.operands(op);
  const std::span<const ValueId> returned = program.operands(terminator(program, body));
  std::vector<Tie> ties;
  for (std::size_t i = 0; i < parts.inputs; ++i) ties.push_back({given[i], args[i], dim});
  for (std::size_t i = 0; i < parts.outputs; ++i)
    ties.push_back({program.result(op, i), returned[i], dim});
  for (std::size_t i = 0; i < parts.carries; ++i) {
    const ValueId result = program.result(op, parts.outputs + i);
    ties.push_back({result, given[parts.inputs + i]});
    ties.push_back({result, args[parts.inputs + i]});
    ties.push_back({result, returned[parts.outputs + i]});
  }
  return ties;
}

std::vector<Tie> ties_of(const Program& program, const Op& op) {
  if (is_scan(op)) return scan_ties(program, op);
  std::vector<Tie> ties;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId result = program.result(op, i);
    if (is_loop(op)) ties.push_back({result, program.operands(op)[i]});
    for (std::size_t r = 0; r < op.region_count; ++r) {
      const RegionId region = program.regions(op)[r];
      if (is_loop(op)) ties.push_back({result, program.region(region).args[i]});
      if (!is_loop(op) || r == 1)
        ties.push_back({result, program.operands(terminator(program, region))[i]});
    }
  }
  return ties;
}

// Which dimensions of the values in the regions go together.
class DimClasses {
 public:
  DimClasses(const Program& program, const Op& op, InnerRules& rules)
      : program_(program), rules_(rules) {
    for (ValueId v : inputs_of(program, op)) nodes(v);
    for (const Tie& tie : ties_of(program, op)) join(tie);
    for (RegionId region : program.regions(op))
      for (OpId id : program.region(region).ops)
        if (id != program.region(region).ops.back()) learn(program.op(id));
    keep_diagonals_whole();
  }

  // The class of a dimension, or nothing where its elements do not stay apart.
  std::optional<int> find(ValueId value, std::size_t dim) {
    const int node = root(nodes(value) + static_cast<int>(dim));
    if (whole_[static_cast<std::size_t>(node)]) return std::nullopt;
    return node;
  }

 private:
  int nodes(ValueId value) {
    auto [it, is_new] = first_.try_emplace(value, static_cast<int>(parent_.size()));
    const Type& type = program_.type_of(value);
    if (is_new && type.is_tensor())
      for (std::size_t d = 0; d < type.rank(); ++d) {
        parent_.push_back(static_cast<int>(parent_.size()));
        whole_.push_back(false);
      }
    return it->second;
  }
  int root(int node) {
    while (parent_[static_cast<std::size_t>(node)] != node)
      node = parent_[static_cast<std::size_t>(node)];
    return node;
  }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    parent_[static_cast<std::size_t>(b)] = a;
    whole_[static_cast<std::size_t>(a)] =
        whole_[static_cast<std::size_t>(a)] || whole_[static_cast<std::size_t>(b)];
  }
  void join(const Tie& tie) {
    const Type& type = program_.type_of(tie.outer);
    const int outer = nodes(tie.outer);
    int inner = nodes(tie.inner);
    for (std::size_t d = 0; type.is_tensor() && d < type.rank(); ++d) {
      const int node = outer + static_cast<int>(d);
      if (tie.sliced == d)
        whole_[static_cast<std::size_t>(root(node))] = true;
      else
        join(node, inner++);
    }
  }

  static bool is_just_a_factor(const DimRule& dim) {
    return dim.terms.size() == 1 && dim.terms[0].stride == 1 && dim.terms[0].divide == 1 &&
           dim.terms[0].modulo == 0 && dim.offset == 0 && dim.dilation == 1;
  }

  // Two dimensions of one value in one class, as in x + transpose(x): a piece of the class would
  // have nothing off the diagonal.
  void keep_diagonals_whole() {
    for (const auto& [value, first] : first_) {
      const Type& type = program_.type_of(value);
      const int rank = type.is_tensor() ? static_cast<int>(type.rank()) : 0;
      for (int d = 0; d < rank; ++d)
        for (int e = d + 1; e < rank; ++e)
          if (root(first + d) == root(first + e))
            whole_[static_cast<std::size_t>(root(first + d))] = true;
    }
  }

  void learn(const Op& op) {
    const IndexRule& rule = rules_.of(op);
    const std::vector<ValueId> inputs = inputs_of(program_, op);
    std::vector<int> seen(rule.factors.size(), -1);
    std::vector<bool> apart;
    for (const Factor& factor : rule.factors) apart.push_back(factor.kind == FactorKind::parallel);
    auto each = [&](auto&& visit) {
      auto all = [&](const std::vector<DimRule>& dims, ValueId value) {
        for (std::size_t d = 0; d < dims.size(); ++d)
          visit(dims[d], nodes(value) + static_cast<int>(d), program_.type_of(value).shape[d]);
      };
      for (std::size_t i = 0; i < inputs.size(); ++i) all(rule.operands[i].dims, inputs[i]);
      for (std::size_t i = 0; i < op.result_count; ++i)
        all(rule.results[i].dims, program_.result(op, i));
    };
    // A factor that is anywhere more or less than a dimension cannot be split here.
    each([&](const DimRule& dim, int, std::int64_t extent) {
      for (const IndexTerm& term : dim.terms) {
        const auto factor = static_cast<std::size_t>(term.factor);
        if (!is_just_a_factor(dim) || rule.factors[factor].size != extent) apart[factor] = false;
      }
    });
    each([&](const DimRule& dim, int node, std::int64_t) {
      if (dim.terms.size() != 1 || !apart[static_cast<std::size_t>(dim.terms[0].factor)]) {
        whole_[static_cast<std::size_t>(root(node))] = true;
        return;
      }
      int& first = seen[static_cast<std::size_t>(dim.terms[0].factor)];
      if (first < 0)
        first = node;
      else
        join(first, node);
    });
  }

  const Program& program_;
  InnerRules& rules_;
  std::map<ValueId, int> first_;  // the node of dimension 0
  std::vector<int> parent_;
  std::vector<bool> whole_;
};

using Sources = std::set<int>;  // inputs of the op with regions

// What the values of a region come from, given what its arguments come from.
class Provenance {
 public:
  Provenance(const Program& program, const Op& op, InnerRules& rules)
      : program_(program), rules_(rules) {
    const std::vector<ValueId> inputs = inputs_of(program, op);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      known_.try_emplace(inputs[i]).first->second.insert(static_cast<int>(i));
  }

  // One set for each value that the region returns.
  std::vector<Sources> returned(RegionId region, const std::vector<Sources>& args = {}) {
    for (std::size_t i = 0; i < args.size(); ++i) known_[program_.region(region).args[i]] = args[i];
    for (OpId id : program_.region(region).ops) step(program_.op(id));
    std::vector<Sources> sources;
    for (ValueId v : program_.operands(terminator(program_, region))) sources.push_back(known_[v]);
    return sources;
  }

 private:
  void step(const Op& op) {
    if (op.result_count == 0) return;
    const IndexRule& rule = rules_.of(op);
    const std::vector<ValueId> inputs = inputs_of(program_, op);
    for (std::size_t r = 0; r < op.result_count; ++r) {
      Sources sources;
      const std::vector<int>& free = rule.results[r].independent_of;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (std::count(free.begin(), free.end(), static_cast<int>(i)) == 0)
          sources.insert(known_[inputs[i]].begin(), known_[inputs[i]].end());
      known_[program_.result(op, r)] = std::move(sources);
    }
  }

  const Program& program_;
  InnerRules& rules_;
  std::map<ValueId, Sources> known_;
};

std::vector<Sources> branch_sources(const Program& program, const Op& op, InnerRules& rules) {
  std::vector<Sources> sources(op.result_count, Sources{0});  // the choice
  Provenance provenance(program, op, rules);
  for (RegionId region : program.regions(op)) {
    const std::vector<Sources> returned = provenance.returned(region);
    for (std::size_t i = 0; i < sources.size(); ++i)
      sources[i].insert(returned[i].begin(), returned[i].end());
  }
  return sources;
}

// Goes round until nothing is added. A value that the body passes on does not depend on how often.
std::vector<Sources> loop_sources(const Program& program, const Op& op, InnerRules& rules) {
  const RegionId condition = program.regions(op)[0], body = program.regions(op)[1];
  std::vector<Sources> state;
  for (std::size_t i = 0; i < op.result_count; ++i) state.push_back({static_cast<int>(i)});
  Provenance provenance(program, op, rules);
  while (true) {
    std::vector<Sources> next = state;
    const Sources rounds = provenance.returned(condition, state)[0];
    const std::vector<Sources> returned = provenance.returned(body, state);
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (program.operands(terminator(program, body))[i] == program.region(body).args[i]) continue;
      next[i].insert(rounds.begin(), rounds.end());
      next[i].insert(returned[i].begin(), returned[i].end());
    }
    if (next == state) return state;
    state = std::move(next);
  }
}

// As a loop, but how often the body runs is known.
std::vector<Sources> scan_sources(const Program& program, const Op& op, InnerRules& rules) {
  const chlo::ScanParts parts = *chlo::scan_parts(program, op);
  const RegionId body = program.regions(op)[0];
  std::vector<Sources> args;
  for (std::size_t i = 0; i < op.operand_count; ++i) args.push_back({static_cast<int>(i)});
  Provenance provenance(program, op, rules);
  while (true) {
    std::vector<Sources> returned = provenance.returned(body, args);
    std::vector<Sources> next = args;
    for (std::size_t i = 0; i < parts.carries; ++i)
      next[parts.inputs + i].insert(returned[parts.outputs + i].begin(),
                                    returned[parts.outputs + i].end());
    if (next != args) {
      args = std::move(next);
      continue;
    }
    // A carry that no step has changed is the one that was given.
    for (std::size_t i = 0; i < parts.carries; ++i)
      returned[parts.outputs + i] = args[parts.inputs + i];
    return returned;
  }
}

std::vector<Sources> sources_of(const Program& program, const Op& op, InnerRules& rules) {
  if (is_scan(op)) return scan_sources(program, op, rules);
  return is_loop(op) ? loop_sources(program, op, rules) : branch_sources(program, op, rules);
}

// What comes out of a scan at a step depends on what went in up to this step.
void scanned_dims(const Program& program, const Op& op, RuleBuilder& rule) {
  const chlo::ScanParts parts = *chlo::scan_parts(program, op);
  const auto dim = static_cast<std::size_t>(parts.dimension);
  const std::int64_t steps = operand_type(program, op, 0).shape[dim];
  const int step = rule.whole(steps), later = rule.whole(steps);
  for (std::size_t i = 0; i < parts.inputs; ++i) rule.operand(i, dim, step);
  for (std::size_t i = 0; i < parts.outputs; ++i)
    rule.result(i, dim, DimRule{{{step}, {later, parts.reverse ? -1 : 1}}, 0, 1});
}

// The dimensions of the op itself by class, each with the factor that the rule gives it.
std::map<int, int> factors_of(const Program& program, const Op& op, DimClasses& classes,
                              RuleBuilder* rule) {
  std::map<int, int> factors;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Type& type = result_type(program, op, i);
    for (std::size_t d = 0; type.is_tensor() && d < type.rank(); ++d)
      if (auto found = classes.find(program.result(op, i), d))
        if (auto [it, is_new] = factors.try_emplace(*found, static_cast<int>(factors.size()));
            is_new && rule != nullptr)
          rule->parallel(type.shape[d]);
  }
  return factors;
}

}  // namespace

IndexRule control_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  InnerRules rules(program);
  DimClasses classes(program, op, rules);
  const std::map<int, int> factors = factors_of(program, op, classes, &rule);
  auto factor = [&](ValueId value, std::size_t d) -> std::optional<int> {
    auto found = classes.find(value, d);
    auto it = found ? factors.find(*found) : factors.end();
    return it == factors.end() ? std::nullopt : std::optional(it->second);
  };
  const std::vector<ValueId> inputs = inputs_of(program, op);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t d = 0; d < rule.operand(i).dims.size(); ++d)
      if (auto f = factor(inputs[i], d)) rule.operand(i, d, *f);
  const std::vector<Sources> sources = sources_of(program, op, rules);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    for (std::size_t d = 0; d < rule.result(i).dims.size(); ++d)
      if (auto f = factor(program.result(op, i), d)) rule.result(i, d, *f);
    for (std::size_t input = 0; input < inputs.size(); ++input)
      if (sources[i].count(static_cast<int>(input)) == 0) rule.independent(i, input);
  }
  if (is_scan(op)) scanned_dims(program, op, rule);
  return rule.done();
}

namespace {

// Writes the regions of a loop or branch for a piece: every op of them for its own piece.
class RegionPiece {
 public:
  RegionPiece(Program& out, const Program& program, const Op& op, const OpPiece& piece)
      : out_(out),
        program_(program),
        ranges_(piece.ranges),
        rules_(program),
        classes_(program, op, rules_),
        factors_(factors_of(program, op, classes_, nullptr)) {}

  Expected<RegionId> write(RegionId region, ValueMap& values) {
    const RegionId copy = out_.add_region();
    for (ValueId arg : program_.region(region).args)
      values[arg] = out_.add_arg(copy, out_.intern(local_type(arg)));
    for (OpId id : program_.region(region).ops)
      HEDDLE_TRY_VOID(write(copy, program_.op(id), values));
    return copy;
  }

 private:
  // The range of a dimension's class; nothing where the dimension is not split.
  std::optional<FactorRange> range(ValueId value, std::size_t d) {
    auto found = classes_.find(value, d);
    auto it = found ? factors_.find(*found) : factors_.end();
    if (it == factors_.end()) return std::nullopt;
    return ranges_[static_cast<std::size_t>(it->second)];
  }

  Type local_type(ValueId value) {
    Type type = program_.type_of(value);
    for (std::size_t d = 0; type.is_tensor() && d < type.rank(); ++d)
      if (auto r = range(value, d)) type.shape[d] = r->size;
    return type;
  }

  Verdict write(RegionId at, const Op& op, ValueMap& values) {
    const IndexRule& rule = rules_.of(op);
    const std::vector<ValueId> inputs = inputs_of(program_, op);
    std::vector<FactorRange> ranges = all_ranges(rule);
    auto take = [&](const DimRule& dim, ValueId value, std::size_t d) {
      if (dim.terms.size() != 1) return;
      if (auto r = range(value, d)) ranges[static_cast<std::size_t>(dim.terms[0].factor)] = *r;
    };
    std::vector<ValueId> operands;
    const bool ends = op.def->form == Form::terminator;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      operands.push_back(values.at(inputs[i]));
      for (std::size_t d = 0; !ends && d < rule.operands[i].dims.size(); ++d)
        take(rule.operands[i].dims[d], inputs[i], d);
    }
    for (std::size_t i = 0; i < op.result_count; ++i)
      for (std::size_t d = 0; d < rule.results[i].dims.size(); ++d)
        take(rule.results[i].dims[d], program_.result(op, i), d);
    HEDDLE_TRY(OpPiece piece, piece_of(program_, op, rule, ranges));
    HEDDLE_TRY(std::vector<ValueId> results,
               emit_piece(out_, at, program_, op, rule, piece, operands));
    for (std::size_t i = 0; i < results.size(); ++i) values[program_.result(op, i)] = results[i];
    return yes();
  }

  Program& out_;
  const Program& program_;
  std::span<const FactorRange> ranges_;
  InnerRules rules_;
  DimClasses classes_;
  std::map<int, int> factors_;
};

}  // namespace

Expected<std::vector<RegionId>> piece_regions(Program& out, const Program& program, const Op& op,
                                              const IndexRule& rule, const OpPiece& piece,
                                              std::span<const ValueId> operands) {
  const std::vector<ValueId> inputs = inputs_of(program, op);
  const bool splits = op.def->index_rule == control_index_rule && piece.ranges != all_ranges(rule);
  std::vector<RegionId> regions;
  for (RegionId region : program.regions(op)) {
    ValueMap values;
    for (std::size_t i = op.operand_count; i < inputs.size(); ++i) values[inputs[i]] = operands[i];
    if (!splits) {
      regions.push_back(clone_region(out, program, region, values));
      continue;
    }
    RegionPiece local(out, program, op, piece);
    HEDDLE_TRY(RegionId copy, local.write(region, values));
    regions.push_back(copy);
  }
  return regions;
}

}  // namespace heddle
