#include "heddle/cost_network.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "heddle/hash.h"

namespace heddle {
namespace {

using Cost = CostNetwork::Cost;

// Anything above what a cost may be stands for "never".
Cost checked_cost(Cost cost, const char* what) {
  if (cost < 0) throw Error(fmt::format("{} of {} is negative: costs begin at 0", what, cost));
  return cost > CostNetwork::kMostCost ? CostNetwork::kForbidden : cost;
}

std::uint64_t hash_of(std::span<const Cost> table) {
  std::uint64_t hash = table.size();
  for (const Cost cost : table) hash = hash_combine(hash, static_cast<std::uint64_t>(cost));
  return hash;
}

}  // namespace

void CostNetwork::require_variable(int variable, const char* what) const {
  if (variable >= 0 && variable < variables()) return;
  throw Error(fmt::format("{} names variable {}, but there are {}: add the variable first", what,
                          variable, variables()));
}

int CostNetwork::add_variable(std::span<const Cost> costs) {
  if (costs.empty())
    throw Error(
        fmt::format("variable {} has no values: give it the cost of at least one", variables()));
  for (const Cost cost : costs) costs_.push_back(checked_cost(cost, "the cost of a value"));
  starts_.push_back(static_cast<int>(costs_.size()));
  return variables() - 1;
}

void CostNetwork::add_usage(int variable, Lifetime life, std::span<const std::int64_t> amounts) {
  require_variable(variable, "a usage");
  if (amounts.size() != static_cast<std::size_t>(values(variable)))
    throw Error(fmt::format("variable {} has {}, but {}: give one for each value", variable,
                            counted(static_cast<std::size_t>(values(variable)), "value"),
                            counted(amounts.size(), "usage")));
  if (life.end < life.begin)
    throw Error(fmt::format("variable {} is alive from {} to {}: the end may not come first",
                            variable, life.begin, life.end));
  for (const std::int64_t amount : amounts)
    if (amount < 0 || amount > kMostUsage)
      throw Error(fmt::format("variable {} has a usage of {}: usages go from 0 to {}", variable,
                              amount, kMostUsage));
  if (life.begin == life.end) return;
  usages_.push_back({variable, life, {amounts.begin(), amounts.end()}});
}

void CostNetwork::add_edge(int first, int second, std::span<const Cost> table) {
  require_variable(first, "an edge");
  require_variable(second, "an edge");
  if (first == second)
    throw Error(fmt::format("an edge joins variable {} with itself: add to the costs of its values",
                            first));
  const std::size_t wanted = static_cast<std::size_t>(values(first)) * values(second);
  if (table.size() != wanted)
    throw Error(fmt::format("the edge of variables {} and {} has {}: {} times {} need {}", first,
                            second, counted(table.size(), "cost"),
                            counted(static_cast<std::size_t>(values(first)), "value"),
                            counted(static_cast<std::size_t>(values(second)), "value"), wanted));
  std::vector<Cost> kept;
  kept.reserve(table.size());
  for (const Cost cost : table) kept.push_back(checked_cost(cost, "the cost of a pair"));
  const std::uint64_t hash = hash_of(kept);
  const auto [from, to] = known_.equal_range(hash);
  const auto same = std::find_if(from, to, [&](auto& row) { return tables_[row.second] == kept; });
  if (same != to) {
    edges_.push_back({first, second, same->second});
    return;
  }
  known_.emplace(hash, tables());
  edges_.push_back({first, second, tables()});
  tables_.push_back(std::move(kept));
}

void CostNetwork::set_limit(std::int64_t limit) {
  if (limit < 0) throw Error(fmt::format("the usage limit is {}: it may not be negative", limit));
  limit_ = limit;
}

Cost CostNetwork::cost_of(std::span<const int> chosen) const {
  HEDDLE_CHECK(chosen.size() == static_cast<std::size_t>(variables()));
  Cost sum = 0;
  const auto add = [&](Cost cost) {
    sum = sum == kForbidden || cost == kForbidden ? kForbidden : sum + cost;
  };
  for (int v = 0; v < variables(); ++v) add(costs_[starts_[v] + chosen[v]]);
  for (const Edge& edge : edges_)
    add(tables_[edge.table][static_cast<std::size_t>(chosen[edge.first]) * values(edge.second) +
                            chosen[edge.second]]);
  return sum;
}

std::int64_t CostNetwork::peak_of(std::span<const int> chosen) const {
  HEDDLE_CHECK(chosen.size() == static_cast<std::size_t>(variables()));
  std::map<std::int64_t, std::int64_t> steps;
  for (const Usage& usage : usages_) {
    const std::int64_t amount = usage.amounts[chosen[usage.variable]];
    steps[usage.life.begin] += amount;
    steps[usage.life.end] -= amount;
  }
  std::int64_t now = 0, most = 0;
  for (const auto& [time, step] : steps) most = std::max(most, now += step);
  return most;
}

Verdict CostNetwork::check(std::span<const int> chosen) const {
  if (chosen.size() != static_cast<std::size_t>(variables()))
    return reason("there are {} values for {} variables", chosen.size(), variables());
  for (int v = 0; v < variables(); ++v)
    if (chosen[v] < 0 || chosen[v] >= values(v))
      return reason("variable {} has no value {}: it has {}", v, chosen[v], values(v));
  if (cost_of(chosen) == kForbidden) return reason("a forbidden value or pair is chosen");
  if (const std::int64_t peak = peak_of(chosen); peak > limit_)
    return reason("{} is taken at a time, the limit is {}", peak, limit_);
  return yes();
}

}  // namespace heddle
