#include "parallel/solver/block.h"

#include <algorithm>

#include "parallel/solver/elimination.h"

namespace heddle::solver {
namespace {

constexpr double kRowWork = 10;

}  // namespace
Block::Block(const Core& core, std::span<const int> candidates, double most_table, Random& random,
             Places& places)
    : core_(core) {
  Elimination elimination(core, candidates, random, places);
  while (!elimination.is_over()) {
    const int at = elimination.lightest();
    if (elimination.weight(at) > most_table) {
      elimination.leave(elimination.heaviest());
      continue;
    }
    // Each row takes some time beside its numbers.
    work_ += elimination.weight(at) * (1 + kRowWork / core.values(candidates[at]));
    order_.push_back(candidates[at]);
    buckets_.emplace_back();
    buckets_.back().variable = candidates[at];
    for (const int met : elimination.around(at)) buckets_.back().scope.push_back(candidates[met]);
    elimination.eliminate(at);
  }
  for (std::size_t b = 0; b < order_.size(); ++b) places.set(order_[b], static_cast<int>(b));
  link(places);
  for (const int v : order_) places.clear(v);
}

// Scopes in their order, and where the factors of each bucket lie.
void Block::link(const Places& places) {
  int largest = 1;
  for (Bucket& bucket : buckets_) {
    // Those that stay after all are no part of it.
    std::erase_if(bucket.scope, [&](int v) { return places[v] < 0; });
    std::sort(bucket.scope.begin(), bucket.scope.end(),
              [&](int a, int b) { return places[a] > places[b]; });
    for (const int v : bucket.scope) {
      bucket.sizes.push_back(core_.values(v));
      bucket.entries *= core_.values(v);
    }
    bucket.least.resize(bucket.entries);
    bucket.best.resize(bucket.entries);
    largest = std::max(largest, core_.values(bucket.variable));
  }
  own_.resize(largest);
  base_.resize(largest);
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = buckets_[b];
    for (const Core::Neighbour& next : core_.around(bucket.variable)) {
      if (places[next.other] < 0) bucket.fixed.push_back(&next);
      if (places[next.other] < static_cast<int>(b)) continue;
      Factor factor{next.by_other, -1, {}};
      for (const int v : bucket.scope)
        factor.strides.push_back(v == next.other ? core_.values(bucket.variable) : 0);
      bucket.factors.push_back(std::move(factor));
    }
    if (bucket.scope.empty()) continue;
    Bucket& next = buckets_[places[bucket.scope.back()]];
    Factor factor{nullptr, static_cast<int>(b), std::vector<std::size_t>(next.scope.size(), 0)};
    std::size_t stride = 1;
    for (std::size_t i = bucket.scope.size(); i-- > 0;) {
      const auto at = std::find(next.scope.begin(), next.scope.end(), bucket.scope[i]);
      if (at != next.scope.end()) factor.strides[at - next.scope.begin()] = stride;
      stride *= bucket.sizes[i];
    }
    next.factors.push_back(std::move(factor));
  }
}

// What each value costs by itself and with those that stay.
void Block::own_costs(const Bucket& bucket, const std::vector<double>& costs,
                      const std::vector<int>& chosen) {
  const int v = bucket.variable, count = core_.values(v);
  std::copy_n(costs.begin() + core_.start(v), count, own_.begin());
  for (const Core::Neighbour* const next : bucket.fixed)
    add_to(own_.data(), next->by_other + static_cast<std::size_t>(chosen[next->other]) * count,
           count);
}

// The rows of one place of all variables of the scope but the last.
void Block::fill_run(Bucket& bucket, std::size_t entry, const std::vector<const double*>& at) {
  const int count = core_.values(bucket.variable);
  const std::size_t last = bucket.scope.size() - 1;
  double* const base = base_.data();
  runs_.clear();
  for (std::size_t f = 0; f < at.size(); ++f) {
    const std::size_t stride = bucket.factors[f].strides[last];
    if (stride == 0)
      add_to(base, at[f], count);
    else
      runs_.push_back({at[f], stride});
  }
  least_rows(base, count, runs_.data(), static_cast<int>(runs_.size()), bucket.sizes[last],
             bucket.least.data() + entry, bucket.best.data() + entry);
}

void Block::fill(Bucket& bucket, const double* costs) {
  const int count = core_.values(bucket.variable);
  const std::size_t depth = bucket.scope.size();
  std::vector<const double*>& at = at_;
  at.clear();
  for (const Factor& factor : bucket.factors)
    at.push_back(factor.table != nullptr ? factor.table : buckets_[factor.bucket].least.data());
  if (depth == 0) {
    std::copy_n(costs, count, base_.data());
    for (const double* const from : at) add_to(base_.data(), from, count);
    least_rows(base_.data(), count, nullptr, 0, 1, bucket.least.data(), bucket.best.data());
    return;
  }
  index_.assign(depth, 0);
  for (std::size_t entry = 0;; entry += bucket.sizes[depth - 1]) {
    std::copy_n(costs, count, base_.data());
    fill_run(bucket, entry, at);
    // The next place; the last variable but one counts fastest.
    std::size_t d = depth - 1;
    while (d-- > 0) {
      const bool wraps = ++index_[d] == bucket.sizes[d];
      for (std::size_t f = 0; f < at.size(); ++f) {
        const std::size_t stride = bucket.factors[f].strides[d];
        at[f] = wraps ? at[f] - stride * (bucket.sizes[d] - 1) : at[f] + stride;
      }
      if (!wraps) break;
      index_[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

double Block::solve(const std::vector<double>& costs, std::vector<int>& chosen) {
  double sum = 0;
  for (Bucket& bucket : buckets_) {
    own_costs(bucket, costs, chosen);
    fill(bucket, own_.data());
    if (bucket.scope.empty()) sum += bucket.least[0];
  }
  for (std::size_t b = buckets_.size(); b-- > 0;) {
    const Bucket& bucket = buckets_[b];
    std::size_t entry = 0;
    for (std::size_t i = 0; i < bucket.scope.size(); ++i)
      entry = entry * bucket.sizes[i] + chosen[bucket.scope[i]];
    chosen[bucket.variable] = bucket.best[entry];
  }
  return sum;
}

// What each value of the bucket's variable leads to at best, given the scope's values.
void Block::row_of(const Bucket& bucket, const std::vector<double>& costs,
                   const std::vector<int>& chosen, std::vector<double>& row) const {
  const int v = bucket.variable, count = core_.values(v);
  row.assign(costs.begin() + core_.start(v), costs.begin() + core_.start(v) + count);
  const auto add = [&](const double* from) {
    for (int x = 0; x < count; ++x) row[x] += from[x];
  };
  for (const Core::Neighbour* const next : bucket.fixed)
    add(next->by_other + static_cast<std::size_t>(chosen[next->other]) * count);
  for (const Factor& factor : bucket.factors) {
    const double* from =
        factor.table != nullptr ? factor.table : buckets_[factor.bucket].least.data();
    for (std::size_t i = 0; i < bucket.scope.size(); ++i)
      from += factor.strides[i] * chosen[bucket.scope[i]];
    add(from);
  }
}

struct Block::Dive {
  const std::vector<double>& costs;
  Limits& limits;
  std::vector<int> chosen, best;
  double worth = 0;   // of all room at its prices
  double memory = 0;  // price of what is taken so far
  bool found = false;
  std::vector<std::vector<double>> rows;
  std::vector<std::vector<int>> orders;
};

// Buckets below `left` are not decided yet; `value` is what the rest leads to at best.
void Block::dive(Dive& dive, std::size_t left, double value) {
  if (left == 0) {
    const double cost = value - dive.memory;
    if (cost > dive.limits.cost - 0.5) return;
    dive.limits.cost = cost;
    dive.best = dive.chosen;
    dive.found = true;
    return;
  }
  const Bucket& bucket = buckets_[left - 1];
  const int v = bucket.variable;
  std::vector<double>& row = dive.rows[left - 1];
  row_of(bucket, dive.costs, dive.chosen, row);
  std::vector<int>& order = dive.orders[left - 1];
  order.resize(row.size());
  for (std::size_t x = 0; x < row.size(); ++x) order[x] = static_cast<int>(x);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row[a] < row[b]; });
  const double least = row[order[0]];
  for (const int x : order) {
    const double next = value + (row[x] - least);
    if (next - dive.worth > dive.limits.cost - 0.5 || dive.limits.nodes <= 0) return;
    --dive.limits.nodes;
    bool fits = true;
    const double memory = dive.memory;
    for (const Core::Usage& usage : core_.usages(v)) {
      const std::int64_t amount = usage.amounts[x];
      if (amount == 0) continue;
      for (int t = usage.begin; t < usage.end; ++t) {
        fits = (dive.limits.room[t] -= amount) >= 0 && fits;
        dive.memory += dive.limits.prices[t] * static_cast<double>(amount);
      }
    }
    dive.chosen[v] = x;
    if (fits) this->dive(dive, left - 1, next);
    dive.memory = memory;
    for (const Core::Usage& usage : core_.usages(v)) {
      const std::int64_t amount = usage.amounts[x];
      if (amount == 0) continue;
      for (int t = usage.begin; t < usage.end; ++t) dive.limits.room[t] += amount;
    }
  }
}

bool Block::search(const std::vector<double>& costs, Limits& limits, std::vector<int>& chosen) {
  double value = 0;
  for (const Bucket& bucket : buckets_)
    if (bucket.scope.empty()) value += bucket.least[0];
  Dive dive{costs, limits, chosen, {}, 0, 0, false, {}, {}};
  dive.rows.resize(buckets_.size());
  dive.orders.resize(buckets_.size());
  for (std::size_t t = 0; t < limits.room.size(); ++t)
    dive.worth += limits.prices[t] * static_cast<double>(limits.room[t]);
  this->dive(dive, buckets_.size(), value);
  if (dive.found) chosen = dive.best;
  return dive.found;
}

}  // namespace heddle::solver
