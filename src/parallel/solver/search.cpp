#include "parallel/solver/search.h"

#include <algorithm>
#include <cmath>

#include "base/plain_math.h"

namespace heddle::solver {
namespace {

constexpr int kFirstCycle = 200, kLongestCycle = 4000;  // steps
constexpr int kSmallest = 4, kDoublings = 6;            // variables of a cluster
constexpr int kLargest = 600;
constexpr long kTries = 2000;  // of values, in a block
constexpr double kTryWork = 100;
constexpr double kLeastTable = 1e3, kTableRange = 1000;  // entries

}  // namespace

Search::Search(const Core& core, std::uint64_t seed)
    : core_(core),
      random_(seed),
      prices_(core.times()),
      dual_prices_(core.times()),
      priced_(core.all_values()),
      costs_(core.costs(0), core.costs(0) + core.all_values()),
      noise_(core.all_values()),
      marked_(core.variables()),
      places_(core.variables()),
      cycle_(kFirstCycle) {}

void Search::start(std::vector<int> chosen) {
  first_ = chosen;
  now_.chosen = std::move(chosen);
  now_.cost = core_.cost_of(now_.chosen);
  now_.taken = core_.taken_by(now_.chosen);
  now_overflow_ = overflow(now_.taken);
  keep_best();
}

void Search::set_prices(const std::vector<double>& prices) {
  dual_prices_ = prices;
  if (now_overflow_ == 0) use_prices(prices);
}

void Search::use_prices(const std::vector<double>& prices) {
  prices_ = prices;
  const std::vector<double> costs = priced_costs(core_, prices);
  for (int i = 0; i < core_.all_values(); ++i) {
    const double plain = core_.costs(0)[i];
    priced_[i] = plain >= kInfinite ? 0 : costs[i] - plain;
  }
}

double Search::overflow(const std::vector<std::int64_t>& taken) const {
  double sum = 0;
  for (int t = 0; t < core_.times(); ++t) {
    const std::int64_t over = taken[t] - core_.room()[t];
    if (over > 0) sum += static_cast<double>(over) / static_cast<double>(core_.room()[t] + 1);
  }
  return sum;
}

void Search::keep_best() {
  if (now_overflow_ > 0 || now_.cost >= best_.cost) return;
  best_ = now_;
}

// Variables that are near to each other, in one place or in several: memory moves between these.
std::vector<int> Search::cluster(int size, int seeds) {
  std::vector<int> found, frontier;
  for (int i = 0; i < seeds; ++i) {
    const int v = random_.below(core_.variables());
    if (marked_[v] == 0) frontier.push_back(v);
    marked_[v] = 1;
  }
  while (!frontier.empty() && static_cast<int>(found.size()) < size) {
    const int at = random_.below(static_cast<int>(frontier.size()));
    const int v = frontier[at];
    frontier[at] = frontier.back();
    frontier.pop_back();
    found.push_back(v);
    for (const Core::Neighbour& next : core_.around(v)) {
      if (marked_[next.other] != 0) continue;
      marked_[next.other] = 1;
      frontier.push_back(next.other);
    }
  }
  for (const int v : found) marked_[v] = 0;
  for (const int v : frontier) marked_[v] = 0;
  return found;
}

double Search::cost_around(const std::vector<int>& variables, const std::vector<int>& chosen) {
  for (const int v : variables) marked_[v] = 1;
  double sum = 0;
  for (const int v : variables) {
    sum += core_.costs(v)[chosen[v]];
    for (const Core::Neighbour& next : core_.around(v))
      if (marked_[next.other] == 0 || next.other > v)
        sum += next.by_own[chosen[v] * core_.values(next.other) + chosen[next.other]];
  }
  for (const int v : variables) marked_[v] = 0;
  return sum;
}

// Small ones often, since they are quick; now and then as large as can be.
Block Search::next_block() {
  const int whole = std::min(core_.variables(), kLargest);
  const int size =
      random_.below(2) == 0 ? whole : std::min(kSmallest << random_.below(kDoublings + 1), whole);
  const double chance = random_.fraction();
  const double most = kLeastTable * plain_power(kTableRange, chance * chance * chance);
  return Block(core_, cluster(size, 1 + random_.below(4)), most, random_, places_);
}

void Search::price(const Block& block, double scale) {
  for (const int v : block.variables())
    for (int i = core_.start(v); i < core_.start(v) + core_.values(v); ++i)
      costs_[i] = core_.costs(0)[i] + scale * priced_[i] + noise_[i];
}

// Solves the block with memory at `scale` of its price.
void Search::try_block(Block& block, double scale) {
  price(block, scale);
  trial_.chosen = now_.chosen;
  block.solve(costs_, trial_.chosen);
  trial_.taken = now_.taken;
  for (const int v : block.variables()) {
    const int before = now_.chosen[v], after = trial_.chosen[v];
    if (before == after) continue;
    for (const Core::Usage& usage : core_.usages(v)) {
      const std::int64_t more = usage.amounts[after] - usage.amounts[before];
      if (more == 0) continue;
      for (int t = usage.begin; t < usage.end; ++t) trial_.taken[t] += more;
    }
  }
}

double Search::step() {
  Block block = next_block();
  double work = 100.0 * static_cast<double>(block.variables().size());
  work += now_overflow_ > 0 ? step_at_prices(block) : step_inside(block);
  if (++step_ >= cycle_) next_cycle();
  return work;
}

// Outside of the room: the best at these prices, which rise where it is too full.
double Search::step_at_prices(Block& block) {
  const double before = cost_around(block.variables(), now_.chosen);
  try_block(block, 1);
  trial_.cost = now_.cost - before + cost_around(block.variables(), trial_.chosen);
  std::swap(now_, trial_);
  now_overflow_ = overflow(now_.taken);
  covered_ += static_cast<double>(block.variables().size());
  if (now_overflow_ == 0) {
    now_.cost = core_.cost_of(now_.chosen);
    run_cost_ = now_.cost;
    keep_best();
    step_ = 0;
  } else if (covered_ > 0.5 * core_.variables()) {
    covered_ = 0;
    raise_prices();
  }
  return block.work();
}

// Inside of the room: the cheapest that fits, or one that is not much worse.
double Search::step_inside(Block& block) {
  allowance_ = std::abs(best_.cost) * heat_ * std::max(0.0, 1 - 1.25 * step_ / cycle_);
  const bool noisy = allowance_ > 0 && random_.below(2) == 0;
  add_noise(block, noisy ? allowance_ * random_.fraction() : 0);
  const double before = cost_around(block.variables(), now_.chosen);
  try_block(block, 0);
  double work = block.work();
  if (overflow(trial_.taken) > 0) {
    const double scale = random_.below(4) == 0 ? 2 * random_.fraction() : 1;
    work += block.work();
    const bool found = search_block(block, scale, before);
    work += kTryWork * static_cast<double>(tries_);
    if (!found) return work;
  }
  trial_.cost = now_.cost - before + cost_around(block.variables(), trial_.chosen);
  if (trial_.cost > std::max(now_.cost, best_.cost + allowance_)) return work;
  std::swap(now_, trial_);
  keep_best();
  return work;
}

// The cheapest that fits, as far as a few tries go. False: none that is not worse.
bool Search::search_block(Block& block, double scale, double before) {
  try_block(block, scale);
  std::vector<double> prices = prices_;
  for (double& price : prices) price *= scale;
  Block::Limits limits{prices, core_.room(), 0, kTries};
  for (int t = 0; t < core_.times(); ++t) limits.room[t] -= now_.taken[t];
  double noise = 0;
  for (const int v : block.variables()) {
    noise += noise_[core_.start(v) + now_.chosen[v]];
    for (const Core::Usage& usage : core_.usages(v))
      for (int t = usage.begin; t < usage.end; ++t) limits.room[t] += usage.amounts[now_.chosen[v]];
  }
  limits.cost = before + noise + allowance_ + 1;
  trial_.chosen = now_.chosen;
  const bool found = block.search(costs_, limits, trial_.chosen);
  tries_ = kTries - limits.nodes;
  if (!found) return false;
  trial_.taken = core_.taken_by(trial_.chosen);
  return true;
}

void Search::add_noise(const Block& block, double most) {
  for (const int v : block.variables())
    for (int i = core_.start(v); i < core_.start(v) + core_.values(v); ++i)
      noise_[i] = most == 0 ? 0 : most * random_.fraction();
}

void Search::next_cycle() {
  step_ = 0;
  if (now_overflow_ > 0 || !has_best()) return;
  heat_ = 0.3 * plain_power(10.0, -3 * random_.fraction());
  // A run goes on while it gets better; then comes another one, or the best goes on.
  if (now_.cost < run_cost_ - 0.5) {
    run_cost_ = now_.cost;
    return;
  }
  if (random_.below(2) == 0 || core_.times() == 0) {
    cycle_ = std::min(cycle_ + cycle_ / 4, kLongestCycle);
    now_ = best_;
    run_cost_ = best_.cost;
    return;
  }
  start_again();
}

// From what is best without regard to room: as if there were more of it, and then less and less.
void Search::start_again() {
  heat_ = 0.01 * random_.fraction();
  std::vector<double> prices = dual_prices_;
  const double share = 0.2 + random_.fraction();
  for (double& price : prices) price *= share * (0.5 + random_.fraction());
  use_prices(prices);
  const double most = std::abs(best_.cost) / core_.variables() * 2 * random_.fraction();
  for (double& noise : noise_) noise = most * random_.fraction();
  if (random_.below(2) == 0) now_ = State{first_, core_.cost_of(first_), core_.taken_by(first_)};
  now_overflow_ = std::max(1e-9, overflow(now_.taken));
}

void Search::raise_prices() {
  double typical = 0;
  for (const double price : dual_prices_) typical = std::max(typical, price);
  if (typical == 0) typical = std::abs(now_.cost) / static_cast<double>(core_.room()[0] + 1);
  std::vector<double> prices = prices_;
  for (int t = 0; t < core_.times(); ++t)
    if (now_.taken[t] > core_.room()[t]) prices[t] = prices[t] * 1.06 + 0.01 * typical;
  use_prices(prices);
}

}  // namespace heddle::solver
