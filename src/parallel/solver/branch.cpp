#include "parallel/solver/branch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::solver {
namespace {

constexpr int kPasses = 4;  // at each place of the tree
constexpr int kRootPasses = 60;
constexpr double kNodeWork = 50;     // of a value that a search in a block tries
constexpr double kLongSearch = 1e6;  // values that it may try at most

// Rounding errors of sums of costs.
double slack_of(double bound) { return 1e-9 * std::abs(bound) + 1e-6; }

}  // namespace

Branch::Branch(const Core& core, double most_table)
    : core_(core), most_table_(most_table), all_(core.variables()), places_(core.variables()) {
  std::iota(all_.begin(), all_.end(), 0);
  pass_work_ = 100 + 4.0 * core.all_values();
  for (int v = 0; v < core.variables(); ++v)
    for (const Core::Neighbour& next : core.around(v))
      pass_work_ += static_cast<double>(core.values(v)) * core.values(next.other);
}

Branch::End Branch::run(double cost, const std::vector<double>& prices, double work,
                        const std::function<bool()>& stop) {
  best_cost_ = cost;
  prices_ = prices;
  work_left_ = work;
  stop_ = &stop;
  incomplete_ = stopped_ = false;
  const std::vector<double> priced = priced_costs(core_, prices);
  priced_.assign(core_.all_values(), 0);
  std::vector<double> plain(core_.costs(0), core_.costs(0) + core_.all_values());
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (plain[i] < kInfinite) priced_[i] = priced[i] - plain[i];
  worth_ = 0;
  for (int t = 0; t < core_.times(); ++t)
    worth_ += prices[t] * static_cast<double>(core_.room()[t]);
  Trws trws(core_);
  for (int i = 0; i < kRootPasses && work_left_ > 0; ++i) bound_of(plain, trws);
  enter(plain, trws);
  if (stopped_) return End::stopped;
  return incomplete_ ? End::out_of_work : End::proved;
}

bool Branch::is_over() {
  if (work_left_ <= 0) incomplete_ = true;
  if ((*stop_)()) stopped_ = incomplete_ = true;
  return incomplete_;
}

double Branch::bound_of(const std::vector<double>& plain, Trws& trws) {
  std::vector<double> costs = plain;
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] += priced_[i];
  const double bound = trws.pass(costs) - worth_;
  work_left_ -= pass_work_;
  return bound - slack_of(bound);
}

// `plain` has infinite costs for values that are ruled out here.
void Branch::enter(const std::vector<double>& plain, Trws& trws) {
  if (is_over()) return;
  double bound = -kInfinite;
  for (int i = 0; i < kPasses; ++i) bound = std::max(bound, bound_of(plain, trws));
  // Costs are whole.
  if (std::ceil(bound) >= best_cost_ - 0.5) return;
  // Those that are fixed are out of all tables.
  std::vector<int> open;
  std::vector<int> chosen(core_.variables(), 0);
  for (const int v : all_) {
    int allowed = 0;
    for (int x = 0; x < core_.values(v); ++x)
      if (plain[core_.start(v) + x] < kInfinite) {
        chosen[v] = x;
        ++allowed;
      }
    if (allowed == 0) return;
    if (allowed > 1) open.push_back(v);
  }
  if (open.empty()) return take(chosen);
  Random random(open.size());
  Block block(core_, open, most_table_, random, places_);
  const bool is_whole = block.variables().size() == open.size();
  if (is_whole && finish(plain, block, chosen)) return;
  split(plain, trws, is_whole ? block.variables().back() : first_left(block, open));
}

// All variables have their value.
void Branch::take(const std::vector<int>& chosen) {
  const double cost = core_.cost_of(chosen);
  if (cost > best_cost_ - 0.5) return;
  const std::vector<std::int64_t> taken = core_.taken_by(chosen);
  for (int t = 0; t < core_.times(); ++t)
    if (taken[t] > core_.room()[t]) return;
  best_cost_ = cost;
  best_ = chosen;
}

// The variable with the largest tables among those that the block leaves out.
int Branch::first_left(const Block& block, const std::vector<int>& open) const {
  std::vector<char> is_in(core_.variables());
  for (const int v : block.variables()) is_in[v] = 1;
  int found = -1;
  std::size_t most = 0;
  for (const int v : open) {
    const std::size_t pairs = core_.around(v).size() + 1;
    if (is_in[v] != 0 || pairs <= most) continue;
    most = pairs;
    found = v;
  }
  return found;
}

// All that is open is in the block: looks for its best. False: that took too long.
bool Branch::finish(const std::vector<double>& plain, Block& block, std::vector<int> chosen) {
  std::vector<double> costs = plain;
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] += priced_[i];
  block.solve(costs, chosen);
  work_left_ -= block.work();
  std::vector<char> is_open(core_.variables());
  for (const int v : block.variables()) is_open[v] = 1;
  Block::Limits limits{prices_, core_.room(), best_cost_ - core_.constant(),
                       static_cast<long>(std::clamp(work_left_ / kNodeWork, 1.0, kLongSearch))};
  for (const int v : all_) {
    if (is_open[v] != 0) continue;
    limits.cost -= plain[core_.start(v) + chosen[v]];
    for (const Core::Neighbour& next : core_.around(v))
      if (is_open[next.other] == 0 && next.other > v)
        limits.cost -= next.by_own[chosen[v] * core_.values(next.other) + chosen[next.other]];
    for (const Core::Usage& usage : core_.usages(v))
      for (int t = usage.begin; t < usage.end; ++t) limits.room[t] -= usage.amounts[chosen[v]];
  }
  // What is fixed may be forbidden, or too large, by itself.
  if (limits.cost < -kInfinite / 2) return true;
  if (std::any_of(limits.room.begin(), limits.room.end(), [](auto room) { return room < 0; }))
    return true;
  const long nodes = limits.nodes;
  if (block.search(costs, limits, chosen)) take(chosen);
  work_left_ -= kNodeWork * static_cast<double>(nodes - limits.nodes);
  return limits.nodes > 0;
}

// One value after the other of v, likely ones first.
void Branch::split(const std::vector<double>& plain, const Trws& trws, int v) {
  std::vector<double> costs = plain;
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] += priced_[i];
  const std::vector<double> likely = trws.costs_of(costs, v);
  std::vector<int> order;
  for (int x = 0; x < core_.values(v); ++x)
    if (plain[core_.start(v) + x] < kInfinite) order.push_back(x);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return likely[a] < likely[b]; });
  for (const int x : order) {
    std::vector<double> fixed = plain;
    for (int y = 0; y < core_.values(v); ++y)
      if (y != x) fixed[core_.start(v) + y] = kInfinite;
    Trws inner = trws;
    enter(fixed, inner);
    if (incomplete_) return;
  }
}

}  // namespace heddle::solver
