#include "parallel/solver/trws.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "parallel/solver/rows.h"

namespace heddle::solver {

namespace {

float rounded_down(double number) {
  const auto near = static_cast<float>(number);
  return static_cast<double>(near) <= number ? near : std::nextafter(near, -INFINITY);
}

}  // namespace

Trws::Trws(const Core& core, Tables tables)
    : core_(core), likely_(core.variables()), margins_(core.all_values()) {
  int largest = 1, place = 0, number = 0;
  for (int v = 0; v < core.variables(); ++v) {
    first_.push_back(number);
    largest = std::max(largest, core.values(v));
    for (std::size_t i = 0; i < core.around(v).size(); ++i, ++number) {
      places_.push_back(place);
      place += core.values(v);
    }
  }
  first_.push_back(number);
  messages_.assign(place, 0);
  own_.resize(largest);
  sent_.resize(largest);
  back_.resize(number);
  // Pairs come to both of their variables in one order.
  std::vector<int> met = first_;
  std::vector<std::vector<std::pair<int, int>>> waiting(core.variables());
  for (int v = 0; v < core.variables(); ++v)
    for (std::size_t i = 0; i < core.around(v).size(); ++i) {
      const int other = core.around(v)[i].other, here = first_[v] + static_cast<int>(i);
      if (other > v) {
        waiting[other].push_back({v, here});
        continue;
      }
      for (const auto& [from, there] : waiting[v])
        if (from == other) {
          back_[here] = there;
          back_[there] = here;
        }
    }
  if (tables == Tables::rounded) round_tables();
}

// Equal tables lie at one place here as well.
void Trws::round_tables() {
  std::unordered_map<const double*, std::size_t> known;
  std::vector<float> rounded;
  for (int v = 0; v < core_.variables(); ++v)
    for (const Core::Neighbour& next : core_.around(v)) {
      const auto [place, is_new] = known.try_emplace(next.by_own, rounded.size());
      rounded_at_.push_back(place->second);
      const std::size_t count =
          static_cast<std::size_t>(core_.values(v)) * core_.values(next.other);
      if (is_new)
        for (std::size_t i = 0; i < count; ++i) rounded.push_back(rounded_down(next.by_own[i]));
    }
  rounded_ = std::make_shared<const std::vector<float>>(std::move(rounded));
}

std::vector<double> Trws::costs_of(const std::vector<double>& costs, int v) const {
  const int count = core_.values(v);
  std::vector<double> own(costs.begin() + core_.start(v), costs.begin() + core_.start(v) + count);
  for (int i = first_[v]; i < first_[v + 1]; ++i)
    add_to(own.data(), messages_.data() + places_[i], count);
  return own;
}

void Trws::gather(const std::vector<double>& costs, int v) {
  const int count = core_.values(v);
  const double* const unary = costs.data() + core_.start(v);
  std::copy(unary, unary + count, own_.begin());
  for (int i = first_[v]; i < first_[v + 1]; ++i)
    add_to(own_.data(), messages_.data() + places_[i], count);
}

// To the neighbour at `place` of v; returns the constant that was taken out.
double Trws::send(int v, int place, double share) {
  const Core::Neighbour& next = core_.around(v)[place - first_[v]];
  const int count = core_.values(v), others = core_.values(next.other);
  const double* const came = messages_.data() + places_[place];
  double* const out = messages_.data() + places_[back_[place]];
  // What is forbidden stays so: differences of infinite numbers would say anything.
  for (int x = 0; x < count; ++x)
    sent_[x] = own_[x] < kInfinite / 2 ? share * own_[x] - came[x] : kInfinite;
  std::fill(out, out + others, kInfinite);
  for (int x = 0; x < count; ++x) {
    const std::size_t row = static_cast<std::size_t>(x) * others;
    if (rounded_ == nullptr)
      lower_to(out, next.by_own + row, sent_[x], others);
    else
      lower_to(out, rounded_->data() + rounded_at_[place] + row, sent_[x], others);
  }
  const double least = *std::min_element(out, out + others);
  for (int y = 0; y < others; ++y) out[y] = out[y] < kInfinite / 2 ? out[y] - least : kInfinite;
  return least;
}

double Trws::sweep(const std::vector<double>& costs, bool forth) {
  double bound = core_.constant();
  const int count = core_.variables();
  for (int step = 0; step < count; ++step) {
    const int v = forth ? step : count - 1 - step;
    gather(costs, v);
    const auto begin = own_.begin(), end = own_.begin() + core_.values(v);
    const auto best = std::min_element(begin, end);
    likely_[v] = static_cast<int>(best - begin);
    const double least = *best;
    bound += least;
    for (auto x = begin; x != end; ++x) *x -= least;
    if (!forth) std::copy(begin, end, margins_.begin() + core_.start(v));
    int ahead = 0, behind = 0;
    for (const Core::Neighbour& next : core_.around(v))
      ++((next.other > v) == forth ? ahead : behind);
    const double share = 1.0 / std::max({ahead, behind, 1});
    for (int i = first_[v]; i < first_[v + 1]; ++i)
      if ((core_.around(v)[i - first_[v]].other > v) == forth) bound += send(v, i, share);
  }
  return bound;
}

double Trws::pass(const std::vector<double>& costs) {
  const double forth = sweep(costs, true);
  return std::max(forth, sweep(costs, false));
}

std::vector<int> Trws::decode(const std::vector<double>& costs) const {
  std::vector<int> chosen(core_.variables());
  std::vector<double> sums;
  for (int v = 0; v < core_.variables(); ++v) {
    const int count = core_.values(v);
    sums.assign(costs.begin() + core_.start(v), costs.begin() + core_.start(v) + count);
    for (int i = first_[v]; i < first_[v + 1]; ++i) {
      const Core::Neighbour& next = core_.around(v)[i - first_[v]];
      const double* const row =
          next.other < v ? next.by_other + static_cast<std::size_t>(chosen[next.other]) * count
                         : messages_.data() + places_[i];
      for (int x = 0; x < count; ++x) sums[x] += row[x];
    }
    chosen[v] = static_cast<int>(std::min_element(sums.begin(), sums.end()) - sums.begin());
  }
  return chosen;
}

}  // namespace heddle::solver
