// Which dimension of the data is the batch: the one that most of the work goes along.
#include <algorithm>
#include <cmath>
#include <set>

#include "heddle/op.h"
#include "heddle/signature.h"
#include "spmd/micro_mesh.h"

namespace heddle {

namespace {

std::int64_t smallest_divisor(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return d;
  return n;
}

double points_of(const IndexRule& rule) {
  double points = 1;
  for (const Factor& f : rule.factors) points *= static_cast<double>(f.size);
  return points;
}

// Work of the ops that have parts of their values only, and work in all: of products where there
// are any, since what is small may go along anything.
struct Work {
  double cut = 0, all = 0;
  double products_cut = 0, products = 0;
  double share() const {
    if (products > 0) return products_cut / products;
    return all > 0 ? cut / all : 0;
  }
};

void count_work(const Program& program, RuleCache& rules, const Propagation& layouts,
                RegionId region, Work& work) {
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    for (RegionId inner : program.regions(op))
      if (op.def->control != Control::none) count_work(program, rules, layouts, inner, work);
    if (op.def->control != Control::none || op.result_count == 0) continue;
    const double points = points_of(rules.of(id));
    const auto is_cut = [&](ValueId v) { return !layouts.splits[v].is_whole(); };
    bool any = std::ranges::any_of(program.operands(op), is_cut);
    for (std::size_t i = 0; i < op.result_count; ++i) any = any || is_cut(program.result(op, i));
    const bool product = op.def->cls == OpClass::contract;
    (product ? work.products : work.all) += points;
    if (any) (product ? work.products_cut : work.cut) += points;
  }
}

struct Candidate {
  BatchDim dim;
  double share = 0;  // of the work
};

}  // namespace

Expected<std::vector<BatchDim>> likely_batches(const Program& given, const std::string& name,
                                               const std::vector<Carried>& carried) {
  const Function* meant = given.find_function(name);
  if (meant == nullptr || meant->body == kNone)
    return reason("there is no function @{} with a body", name);
  const std::vector<ValueId>& arguments = given.region(meant->body).args;
  std::vector<Candidate> found;
  std::set<std::pair<std::size_t, std::size_t>> known;  // cut along with an earlier one
  // Data mostly come last.
  std::vector<std::size_t> candidates = batch_candidates(given, *meant, carried);
  std::ranges::reverse(candidates);
  for (std::size_t i : candidates) {
    const Type& type = given.type_of(arguments[i]);
    for (std::size_t d = 0; d < type.rank(); ++d) {
      if (type.shape[d] < 2 || known.contains({i, d})) continue;
      HEDDLE_TRY(const Program program, on_micro_mesh(given, smallest_divisor(type.shape[d])));
      const Function& function = *program.find_function(name);
      PropagateOptions how;
      how.seeds = micro_seeds(program, function, {i, d}, carried);
      how.carried = carried;
      RuleCache rules(program);
      HEDDLE_TRY(const Propagation layouts, propagate(program, function, rules, how));
      for (std::size_t j = 0; j < arguments.size(); ++j) {
        const Split& split = layouts.splits[program.region(function.body).args[j]];
        for (std::size_t e = 0; e < split.dims.size(); ++e)
          if (!split.dims[e].whole()) known.insert({j, e});
      }
      Work work;
      count_work(program, rules, layouts, function.body, work);
      if (work.share() > 0) found.push_back({{i, d}, work.share()});
    }
  }
  // Of nearly equal ones the first.
  std::ranges::stable_sort(found, std::greater<>(),
                           [](const Candidate& c) { return std::round(c.share * 10); });
  std::vector<BatchDim> likely;
  for (const Candidate& c : found)
    if (c.share > 0.8 * found[0].share) likely.push_back(c.dim);
  if (!likely.empty()) return likely;
  return reason(
      "@{} has no argument with a batch: none is data with a dimension of 2 or more that work "
      "goes along",
      name);
}

Expected<BatchDim> find_batch(const Program& program, const std::string& function,
                              const std::vector<Carried>& carried) {
  HEDDLE_TRY(const std::vector<BatchDim> likely, likely_batches(program, function, carried));
  return likely[0];
}

}  // namespace heddle
