// Random cost-function networks, and the slow way to the best assignment.
#pragma once

#include <functional>
#include <optional>

#include "choices.h"
#include "heddle/hash.h"
#include "heddle/solve.h"

namespace heddle::property {

struct NetworkSizes {
  int variables = 12, values = 6;
};

// Tables have more numbers than there are choices: these come from one choice.
class TableNumbers {
 public:
  explicit TableNumbers(std::uint64_t seed) : state_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(hash_mix(state_++) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

// Costs up to `most`; one in `forbidden` is forbidden, none where that is 0.
inline std::vector<CostNetwork::Cost> random_costs(TableNumbers& numbers, int count,
                                                   std::int64_t most, std::int64_t forbidden) {
  std::vector<CostNetwork::Cost> costs(count);
  for (CostNetwork::Cost& cost : costs)
    cost = forbidden > 0 && numbers.below(forbidden) == 0 ? CostNetwork::kForbidden
                                                          : numbers.below(most + 1);
  return costs;
}

inline CostNetwork random_network(Choices& choices, const NetworkSizes& sizes, bool with_memory) {
  CostNetwork network;
  TableNumbers numbers(static_cast<std::uint64_t>(choices.below(1LL << 31)));
  const int count = static_cast<int>(choices.between(1, sizes.variables));
  const std::int64_t most = choices.pick({3, 30, 1'000'000'000});
  const std::int64_t forbidden = choices.pick({0, 0, 2, 5, 40});
  for (int v = 0; v < count; ++v) {
    const int values = static_cast<int>(choices.between(1, sizes.values));
    network.add_variable(random_costs(numbers, values, most, forbidden * 4));
    if (!with_memory || choices.one_in(4)) continue;
    // Now and then several lifetimes.
    for (std::int64_t n = choices.one_in(4) ? 2 : 1; n > 0; --n) {
      const std::int64_t begin = choices.below(8);
      const std::vector<std::int64_t> amounts = random_costs(numbers, values, 9, 0);
      network.add_usage(v, {begin, begin + choices.below(6)}, amounts);
    }
  }
  const std::int64_t edges = choices.below(count * choices.between(1, 5) + 1);
  for (std::int64_t e = 0; e < edges && count > 1; ++e) {
    const int a = static_cast<int>(numbers.below(count));
    const int b = (a + 1 + static_cast<int>(numbers.below(count - 1))) % count;
    network.add_edge(a, b,
                     random_costs(numbers, network.values(a) * network.values(b), most, forbidden));
  }
  if (with_memory) network.set_limit(choices.below(9 * count + 1) / 2);
  return network;
}

// One value after the other of one variable after the other; costs only grow.
class Exhaustive {
 public:
  explicit Exhaustive(const CostNetwork& network)
      : network_(network), chosen_(network.variables()), ends_(network.variables()) {
    for (const CostNetwork::Edge& edge : network.edges())
      ends_[std::max(edge.first, edge.second)].push_back(edge);
    for (const CostNetwork::Usage& usage : network.usages())
      taken_.resize(std::max<std::size_t>(taken_.size(), usage.life.end));
  }

  // The least cost of what is allowed and fits.
  std::optional<CostNetwork::Cost> best() {
    best_.reset();
    go(0, 0);
    return best_;
  }

 private:
  void go(int v, CostNetwork::Cost cost) {
    if (best_ && cost >= *best_) return;
    if (v == network_.variables()) {
      if (network_.peak_of(chosen_) <= network_.limit()) best_ = cost;
      return;
    }
    for (chosen_[v] = 0; chosen_[v] < network_.values(v); ++chosen_[v]) {
      const CostNetwork::Cost more = cost_of(v);
      if (more == CostNetwork::kForbidden) continue;
      if (take(v, 1)) go(v + 1, cost + more);
      take(v, -1);
    }
  }
  // Whether what is taken so far fits.
  bool take(int v, int sign) {
    bool fits = true;
    for (const CostNetwork::Usage& usage : network_.usages())
      for (std::int64_t t = usage.life.begin; t < usage.life.end && usage.variable == v; ++t)
        fits = (taken_[t] += sign * usage.amounts[chosen_[v]]) <= network_.limit() && fits;
    return fits;
  }
  // Of its value, and of pairs with those before it.
  CostNetwork::Cost cost_of(int v) const {
    CostNetwork::Cost sum = network_.costs(v)[chosen_[v]];
    for (const CostNetwork::Edge& edge : ends_[v]) {
      const CostNetwork::Cost cost = network_.table(
          edge.table)[chosen_[edge.first] * network_.values(edge.second) + chosen_[edge.second]];
      if (sum == CostNetwork::kForbidden || cost == CostNetwork::kForbidden)
        return CostNetwork::kForbidden;
      sum += cost;
    }
    return sum;
  }

  const CostNetwork& network_;
  std::vector<int> chosen_;
  std::vector<std::int64_t> taken_;                   // at each time
  std::vector<std::vector<CostNetwork::Edge>> ends_;  // edges by the later of their variables
  std::optional<CostNetwork::Cost> best_;
};

}  // namespace heddle::property
