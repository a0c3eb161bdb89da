#include "parallel/solver/dual.h"

#include <algorithm>
#include <cmath>

namespace heddle::solver {
namespace {

constexpr int kFirstPasses = 20;  // before prices move
constexpr int kPatience = 10;     // steps without gain until smaller ones are taken
constexpr double kLeastEagerness = 1e-4;

}  // namespace

Dual::Dual(const Core& core, Tables tables)
    : core_(core),
      trws_(core, tables),
      prices_(core.times()),
      best_prices_(core.times()),
      costs_(core.costs(0), core.costs(0) + core.all_values()) {
  work_ = 100 + 4.0 * core.all_values();
  for (int v = 0; v < core.variables(); ++v)
    for (const Core::Neighbour& next : core.around(v))
      work_ += static_cast<double>(core.values(v)) * core.values(next.other);
}

// Returns the bound at the prices as they are.
double Dual::pass() {
  double bound = trws_.pass(costs_);
  for (int t = 0; t < core_.times(); ++t)
    bound -= prices_[t] * static_cast<double>(core_.room()[t]);
  ++since_gain_;
  if (bound <= bound_) return bound;
  if (bound > last_gain_ + 1e-6 * std::abs(bound)) {
    since_gain_ = 0;
    last_gain_ = bound;
  }
  bound_ = bound;
  best_prices_ = prices_;
  return bound;
}

double Dual::step(double cost) {
  const double bound = pass();
  ++steps_;
  if (core_.times() > 0 && steps_ >= kFirstPasses) change_prices(bound, cost);
  return work_;
}

double Dual::settle(int passes) {
  prices_ = best_prices_;
  set_costs();
  for (int i = 0; i < passes; ++i) pass();
  return work_ * passes;
}

void Dual::close(const std::vector<char>& closed) {
  closed_ = closed;
  prices_ = best_prices_;
  eagerness_ = 1;
  since_gain_ = 0;
  set_costs();
}

void Dual::set_costs() {
  costs_ = priced_costs(core_, prices_);
  for (std::size_t i = 0; i < closed_.size(); ++i)
    if (closed_[i] != 0) costs_[i] = kInfinite;
}

// Up where more is taken than there is, down where less is; the further from the best cost, the
// more.
void Dual::change_prices(double bound, double cost) {
  if (since_gain_ > 0 && since_gain_ % kPatience == 0) {
    eagerness_ = std::max(eagerness_ / 2, kLeastEagerness);
    prices_ = best_prices_;
  }
  const std::vector<std::int64_t> taken = core_.taken_by(trws_.likely());
  std::vector<double> over(core_.times());  // as shares of the room
  double norm = 0;
  for (int t = 0; t < core_.times(); ++t) {
    const double room = static_cast<double>(core_.room()[t]) + 1;
    over[t] = (static_cast<double>(taken[t]) - room) / room;
    if (over[t] < 0 && prices_[t] <= 0) over[t] = 0;
    norm += over[t] * over[t];
  }
  if (norm == 0) norm = 1;
  const double target = cost < kInfinite ? cost : bound + 0.1 * std::abs(bound);
  const double step = eagerness_ * std::max(target - bound, 1e-4 * std::abs(target)) / norm;
  for (int t = 0; t < core_.times(); ++t)
    prices_[t] =
        std::max(0.0, prices_[t] + step * over[t] / (static_cast<double>(core_.room()[t]) + 1));
  set_costs();
}

}  // namespace heddle::solver
