#include "parallel/search/move_costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

#include "heddle/hash.h"

namespace heddle::search {

namespace {

// A hundred thousandth of a microsecond: hours of work are still far below the largest cost.
constexpr double kSecondsPerCost = 1e-11;

// Numbers of bytes that the planner is asked for: each is four times the one before it.
constexpr double kLeastBytes = 256;
constexpr int kStepBits = 2;

constexpr std::size_t kMostAxes = 8;  // of meshes whose axes are compared

int step_below(double bytes) { return std::ilogb(bytes / kLeastBytes) / kStepBits; }
double bytes_of_step(int step) { return std::ldexp(kLeastBytes, kStepBits * step); }

}  // namespace

CostNetwork::Cost cost_of_seconds(double seconds) {
  const double cost = std::round(seconds / kSecondsPerCost);
  return static_cast<CostNetwork::Cost>(
      std::min(cost, static_cast<double>(CostNetwork::kMostCost) / 1e3));
}

double seconds_of_cost(CostNetwork::Cost cost) {
  return static_cast<double>(cost) * kSecondsPerCost;
}

CostNetwork::Cost MoveCosts::of(int from, int to, const Type& type) {
  if (from == to) return 0;
  const int pattern = pattern_between(from, to);
  if (pattern == kNever) return CostNetwork::kForbidden;
  const double element = static_cast<double>(bits(type.dtype)) / 8;
  const double bytes = static_cast<double>(type.elements()) * element;
  Pattern& planned = patterns_[static_cast<std::size_t>(pattern)];
  if (is_even(from) && is_even(to)) return cost_of_seconds(seconds(planned, bytes));
  const Uneven uneven = uneven_parts(on_.splits[from], on_.splits[to]);
  return cost_of_seconds(seconds(planned, bytes * uneven.room) +
                         (uneven.copied + uneven.copied_last) * element /
                             on_.mesh.mesh.local_bandwidth());
}

bool MoveCosts::is_even(int split) {
  const auto place = static_cast<std::size_t>(split);
  if (even_.size() <= place) even_.resize(place + 1, kNotAsked);
  if (even_[place] == kNotAsked)
    even_[place] = std::ranges::all_of(on_.splits[split].dims,
                                       [](const DimSplit& dim) { return dim.padded() == dim.size; })
                       ? 1
                       : 0;
  return even_[place] != 0;
}

std::size_t MoveCosts::KeyHash::operator()(const std::vector<int>& key) const {
  std::uint64_t hash = 0;
  for (const int part : key) hash = hash_combine(hash, static_cast<std::uint64_t>(part));
  return hash;
}

int MoveCosts::pattern_between(int from, int to) {
  const Split &before = on_.splits[from], &after = on_.splits[to];
  for (const SplitDigit& d : after.pending)
    if (std::ranges::find(before.pending, d) == before.pending.end()) return kNever;
  const auto [known, is_new] = by_key_.try_emplace(keys_.of(from, to), kNever);
  if (is_new) known->second = find_pattern(from, to);
  return known->second;
}

// The same along axes that are alike.
int MoveCosts::find_pattern(int from, int to) {
  std::pair<int, int> first;
  for (std::size_t way = 0; way < names_.size(); ++way) {
    MovePattern pattern = pattern_of(on_.splits[renamed(from, way)], on_.splits[renamed(to, way)]);
    const std::pair<int, int> splits{on_.split_id(std::move(pattern.from)),
                                     on_.split_id(std::move(pattern.to))};
    first = way == 0 ? splits : std::min(first, splits);
  }
  const auto [known, is_new] = numbers_.try_emplace(first, static_cast<int>(patterns_.size()));
  if (is_new) patterns_.push_back({first.first, first.second, {}});
  return known->second;
}

MoveCosts::MoveCosts(OnMesh& on) : on_(on), known_(KnownMoves::of(on.mesh.mesh)), keys_(on.splits) {
  const std::vector<MeshAxis>& mesh = on.mesh.mesh.axes();
  std::vector<int> names(mesh.size());
  std::iota(names.begin(), names.end(), 0);
  constexpr std::size_t kMostWays = 24;
  do {
    const bool alike =
        std::ranges::all_of(std::views::iota(std::size_t{0}, mesh.size()), [&](std::size_t a) {
          const MeshAxis& other = mesh[static_cast<std::size_t>(names[a])];
          return mesh[a].size == other.size && mesh[a].link == other.link &&
                 mesh[a].medium == other.medium;
        });
    if (alike) names_.push_back(names);
  } while (mesh.size() <= kMostAxes && names_.size() < kMostWays &&
           std::ranges::next_permutation(names).found);
  renamed_.resize(names_.size());
}

int MoveCosts::renamed(int split, std::size_t way) {
  std::vector<int>& known = renamed_[way];
  const auto place = static_cast<std::size_t>(split);
  if (known.size() <= place) known.resize(place + 1, -1);
  if (known[place] >= 0) return known[place];
  Split other = on_.splits[split];
  const auto rename = [&](std::vector<SplitDigit>& digits) {
    for (SplitDigit& d : digits)
      if (!d.local()) d.axis = names_[way][static_cast<std::size_t>(d.axis)];
  };
  for (DimSplit& dim : other.dims) rename(dim.digits);
  rename(other.pending);
  const int id = on_.split_id(std::move(other));
  return renamed_[way][place] = id;
}

double MoveCosts::seconds(Pattern& pattern, double bytes) {
  const double at_least = std::max(bytes, kLeastBytes);
  const int below = step_below(at_least);
  const double low = at_step(pattern, below), high = at_step(pattern, below + 1);
  const double begin = bytes_of_step(below), end = bytes_of_step(below + 1);
  return low + std::max(0.0, (at_least - begin) / (end - begin)) * (high - low);
}

double MoveCosts::at_step(Pattern& pattern, int step) {
  const auto place = static_cast<std::size_t>(step);
  std::vector<double>& seconds = pattern.seconds;
  if (seconds.size() <= place) seconds.resize(place + 1, -1);
  if (seconds[place] >= 0) return seconds[place];
  seconds[place] = known_->seconds({on_.splits[pattern.from], on_.splits[pattern.to], step},
                                   [&] { return planned(pattern, step); });
  fill_lines(seconds, step);
  return seconds[place];
}

namespace {

// The nearest two steps that are known in one direction.
struct TwoSteps {
  int near = -1, far = -1;
};

TwoSteps known_from(const std::vector<double>& seconds, int step, int direction) {
  TwoSteps found;
  for (int s = step + direction; s >= 0 && s < static_cast<int>(seconds.size()); s += direction) {
    if (seconds[static_cast<std::size_t>(s)] < 0) continue;
    if (found.near >= 0) return {found.near, s};
    found.near = s;
  }
  return found;
}

double between(const std::vector<double>& seconds, int low, int high, int step) {
  const double begin = seconds[static_cast<std::size_t>(low)],
               end = seconds[static_cast<std::size_t>(high)];
  return begin + (bytes_of_step(step) - bytes_of_step(low)) /
                     (bytes_of_step(high) - bytes_of_step(low)) * (end - begin);
}

// Steps that are not known between the outer ones, where the inner one is on their line.
void fill_line(std::vector<double>& seconds, int low, int inner, int high) {
  constexpr double kOff = 1e-9;
  if (low < 0 || inner < 0 || high < 0) return;
  const double known = seconds[static_cast<std::size_t>(inner)];
  if (std::abs(between(seconds, low, high, inner) - known) > kOff * known) return;
  for (int step = low + 1; step < high; ++step) {
    double& one = seconds[static_cast<std::size_t>(step)];
    if (one < 0) one = between(seconds, low, high, step);
  }
}

}  // namespace

// What was timed need not bend downwards.
void MoveCosts::fill_lines(std::vector<double>& seconds, int step) const {
  if (!on_.mesh.mesh.timed().empty()) return;
  const TwoSteps below = known_from(seconds, step, -1), above = known_from(seconds, step, 1);
  fill_line(seconds, below.near, step, above.near);
  fill_line(seconds, below.far, below.near, step);
  fill_line(seconds, step, above.near, above.far);
}

// The small value with one more dimension, which makes up for the rest of so many bytes.
double MoveCosts::planned(const Pattern& pattern, int step) const {
  Split from = on_.splits[pattern.from], to = on_.splits[pattern.to];
  double elements = 1;
  for (const DimSplit& dim : from.dims) elements *= static_cast<double>(dim.size);
  const auto rest = std::max<std::int64_t>(1, std::llround(bytes_of_step(step) / elements));
  from.dims.push_back({rest, {}});
  to.dims.push_back({rest, {}});
  constexpr std::int64_t kBits = 8;
  return on_.routes.seconds(from, to, kBits);
}

}  // namespace heddle::search
