#include "parallel/solver/elimination.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/plain_math.h"

namespace heddle::solver {

Elimination::Elimination(const Core& core, std::span<const int> candidates, Random& random,
                         Places& places)
    : around_(candidates.size()),
      left_(candidates.size()),
      weights_(candidates.size()),
      sense_(random.fraction()) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    places.set(candidates[i], static_cast<int>(i));
    sizes_.push_back(core.values(candidates[i]));
    luck_.push_back(-plain_log(1e-9 + random.fraction()));
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (const Core::Neighbour& next : core.around(candidates[i]))
      if (places[next.other] >= 0) around_[i].push_back(places[next.other]);
    std::sort(around_[i].begin(), around_[i].end());
    weigh(static_cast<int>(i));
  }
  for (const int v : candidates) places.clear(v);
  std::iota(left_.begin(), left_.end(), 0);
}

int Elimination::lightest() const {
  return *std::min_element(left_.begin(), left_.end(),
                           [&](int a, int b) { return weights_[a] < weights_[b]; });
}

int Elimination::heaviest() const {
  int found = left_[0];
  double most = -kInfinite;
  for (const int at : left_) {
    const double weight = sense_ * plain_log(weights_[at]) + luck_[at];
    if (weight <= most) continue;
    most = weight;
    found = at;
  }
  return found;
}

void Elimination::eliminate(int at) {
  const std::vector<int> met = around_[at];
  take_out(at);
  for (const int a : met) {
    std::vector<int> joined;
    std::set_union(around_[a].begin(), around_[a].end(), met.begin(), met.end(),
                   std::back_inserter(joined));
    std::erase(joined, a);
    around_[a] = std::move(joined);
  }
  for (const int a : met) weigh(a);
}

void Elimination::take_out(int at) {
  std::erase(left_, at);
  for (const int a : around_[at]) std::erase(around_[a], at);
  for (const int a : around_[at]) weigh(a);
}

void Elimination::weigh(int at) {
  double weight = sizes_[at];
  for (const int a : around_[at]) weight *= sizes_[a];
  weights_[at] = weight;
}

}  // namespace heddle::solver
