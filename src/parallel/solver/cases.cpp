#include "parallel/solver/cases.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel/solver/closed_values.h"

namespace heddle::solver {
namespace {

constexpr int kPassesOfCase = 60, kPassesBetweenLooks = 10;
constexpr int kSplitsBetweenLooks = 5;
constexpr double kLeastRiseOfCase = 1e-4;  // of the bound, between two looks at it

}  // namespace

Cases::Cases(const Core& core, const Dual& dual) : core_(core) {
  Case all{std::vector<char>(core.all_values()), std::make_unique<Dual>(dual)};
  if (!close_without_room(core, all.closed)) return;
  all.dual->close(all.closed);
  open_.push_back(std::move(all));
}

std::size_t Cases::least() const {
  const auto at = std::min_element(open_.begin(), open_.end(), [](const Case& a, const Case& b) {
    return a.bound() < b.bound();
  });
  return static_cast<std::size_t>(at - open_.begin());
}

double Cases::bound() const {
  return open_.empty() ? unsplit_ : std::min(unsplit_, open_[least()].bound());
}

void Cases::run(double cost, double gap, double work, const std::function<bool()>& stop) {
  if (cost <= best_cost_) {
    best_cost_ = cost;
    best_.clear();
  }
  gap_ = gap;
  work_left_ = work;
  stop_ = &stop;
  double bound = this->bound(), least_cost = best_cost_;
  for (int splits = 0; !open_.empty() && work_left_ > 0 && !stop(); ++splits) {
    if (splits % kSplitsBetweenLooks == kSplitsBetweenLooks - 1) {
      const double before = std::exchange(bound, this->bound());
      const bool is_better = std::exchange(least_cost, best_cost_) > best_cost_;
      if (!is_better && bound - before < kLeastRiseOfCase * std::abs(before)) return;
    }
    const std::size_t at = least();
    if (open_[at].bound() >= std::min((1 - gap_) * best_cost_, unsplit_)) return;
    const Case whole = std::move(open_[at]);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    const Cut cut = cut_of(whole);
    if (cut.variable < 0)
      unsplit_ = std::min(unsplit_, whole.bound());
    else
      split(whole, cut);
  }
}

void Cases::split(const Case& whole, const Cut& cut) {
  const std::vector<double> worth = worth_of(*whole.dual, cut.variable);
  const int start = core_.start(cut.variable);
  for (const bool is_lower : {true, false}) {
    Case part{whole.closed, std::make_unique<Dual>(*whole.dual)};
    for (int x = 0; x < core_.values(cut.variable); ++x)
      if ((worth[x] <= cut.most) != is_lower) part.closed[start + x] = 1;
    enter(std::move(part));
  }
}

// What the memory of each value is worth at the prices of a case.
std::vector<double> Cases::worth_of(const Dual& dual, int v) const {
  std::vector<double> worth(core_.values(v));
  for (const Core::Usage& usage : core_.usages(v)) {
    double price = 0;
    for (int t = usage.begin; t < usage.end; ++t) price += dual.prices()[t];
    for (std::size_t x = 0; x < worth.size(); ++x)
      worth[x] += price * static_cast<double>(usage.amounts[x]);
  }
  return worth;
}

// The variable whose likely values differ most in what they take.
Cases::Cut Cases::cut_of(const Case& one) const {
  const double unlikely = best_cost_ - one.bound();
  Cut best;
  double most = 0;
  for (int v = 0; v < core_.variables(); ++v) {
    if (core_.usages(v).empty()) continue;
    const std::vector<double> worth = worth_of(*one.dual, v);
    double low = kInfinite, high = -kInfinite;
    for (int x = 0; x < core_.values(v); ++x) {
      const int at = core_.start(v) + x;
      if (one.closed[at] != 0 || one.dual->margins()[at] > unlikely) continue;
      low = std::min(low, worth[x]);
      high = std::max(high, worth[x]);
    }
    if (high - low <= most) continue;
    most = high - low;
    best = {v, (low + high) / 2};
  }
  return best;
}

void Cases::enter(Case one) {
  if (!close_without_room(core_, one.closed)) return;
  one.dual->close(one.closed);
  double before = one.bound();
  for (int pass = 1; pass <= kPassesOfCase && !(*stop_)(); ++pass) {
    work_left_ -= one.dual->step(best_cost_);
    if (one.bound() >= (1 - gap_) * best_cost_) break;
    if (pass % kPassesBetweenLooks != 0) continue;
    note(one.dual->decode());
    if (one.bound() - before < kLeastRiseOfCase * std::abs(before)) break;
    before = one.bound();
  }
  if (one.bound() < best_cost_) open_.push_back(std::move(one));
}

void Cases::note(std::vector<int> chosen) {
  const double cost = core_.cost_of(chosen);
  if (cost >= best_cost_ || !leaves_room(chosen)) return;
  best_cost_ = cost;
  best_ = std::move(chosen);
}

bool Cases::leaves_room(const std::vector<int>& chosen) const {
  const std::vector<std::int64_t> taken = core_.taken_by(chosen);
  return std::equal(taken.begin(), taken.end(), core_.room().begin(), std::less_equal<>());
}

}  // namespace heddle::solver
