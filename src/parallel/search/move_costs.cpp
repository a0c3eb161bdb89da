#include "parallel/search/move_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <ranges>

namespace heddle::search {

namespace {

// A hundred thousandth of a microsecond: hours of work are still far below the largest cost.
constexpr double kSecondsPerCost = 1e-11;

constexpr double kLeastBytes = 256;
constexpr double kStep = 4;  // from one number of bytes that the planner is asked for to the next

constexpr int kLocal = -1;                   // no axis
constexpr int kNowhere = -1, kPending = -2;  // no digit
constexpr int kPlaceBits = 4;                // of a place in a pattern
constexpr std::size_t kPlaces = 1 << kPlaceBits;

int step_below(double bytes) {
  return static_cast<int>(std::floor(std::log(bytes / kLeastBytes) / std::log(kStep) + 1e-9));
}

double bytes_of_step(int step) { return kLeastBytes * std::pow(kStep, step); }

}  // namespace

CostNetwork::Cost cost_of_seconds(double seconds) {
  const double cost = std::round(seconds / kSecondsPerCost);
  return static_cast<CostNetwork::Cost>(
      std::min(cost, static_cast<double>(CostNetwork::kMostCost) / 1e3));
}

double seconds_of_cost(CostNetwork::Cost cost) {
  return static_cast<double>(cost) * kSecondsPerCost;
}

namespace {

// Digits of a dimension from the major end on, cut where the other split cuts them.
class DigitReader {
 public:
  explicit DigitReader(const DimSplit& dim) : digits_(dim.digits) {
    if (digits_.empty()) digits_.push_back({dim.size});
    skip_ones();
  }
  bool is_over() const { return at_ == digits_.size(); }
  std::int64_t left() const { return digits_[at_].extent; }
  int axis() const { return digits_[at_].local() ? kLocal : digits_[at_].axis; }
  // Only what lies on a device may be cut.
  bool take(std::int64_t extent) {
    while (extent > 1) {
      if (is_over()) return false;
      const std::int64_t here = axis() == kLocal ? std::min(extent, left()) : left();
      if (extent % here != 0 || left() % here != 0) return false;
      digits_[at_].extent /= here;
      extent /= here;
      skip_ones();
      if (extent > 1 && !is_over() && axis() != kLocal) return false;
    }
    return true;
  }

 private:
  void skip_ones() {
    while (at_ < digits_.size() && digits_[at_].extent == 1) ++at_;
  }
  std::vector<SplitDigit> digits_;
  std::size_t at_ = 0;
};

bool are_whole_axes(const std::vector<SplitDigit>& digits, const std::vector<MeshAxis>& mesh) {
  return std::ranges::all_of(digits, [&](const SplitDigit& d) {
    return d.local() || d.extent == mesh[static_cast<std::size_t>(d.axis)].size;
  });
}

}  // namespace

std::optional<MoveCosts::Pattern> MoveCosts::pattern_of(int from, int to) {
  const Split &before = on_.splits[from], &after = on_.splits[to];
  const std::vector<MeshAxis>& mesh = on_.mesh.mesh.axes();
  if (mesh.size() > kMostAxes) return std::nullopt;
  if (!are_whole_axes(before.pending, mesh) || !are_whole_axes(after.pending, mesh))
    return std::nullopt;
  std::array<int, kMostAxes> at, then;  // digits that each axis counts
  at.fill(kNowhere);
  then.fill(kNowhere);
  for (const SplitDigit& d : before.pending) at[static_cast<std::size_t>(d.axis)] = kPending;
  for (const SplitDigit& d : after.pending) then[static_cast<std::size_t>(d.axis)] = kPending;
  int digits = 0;
  for (std::size_t d = 0; d < before.dims.size(); ++d) {
    const DimSplit &one = before.dims[d], &other = after.dims[d];
    if (one.digits.empty() && other.digits.empty()) continue;
    if (!are_whole_axes(one.digits, mesh) || !are_whole_axes(other.digits, mesh))
      return std::nullopt;
    DigitReader first(one), second(other);
    while (!first.is_over() && !second.is_over()) {
      const int a = first.axis(), b = second.axis();
      const std::int64_t x = first.left(), y = second.left();
      // Where one axis counts more than the other, elements of a device make up for the rest.
      const std::int64_t extent = a != kLocal && b != kLocal ? std::max(x, y) : std::min(x, y);
      if (!first.take(extent) || !second.take(extent)) return std::nullopt;
      if (a != kLocal) at[static_cast<std::size_t>(a)] = digits;
      if (b != kLocal) then[static_cast<std::size_t>(b)] = digits;
      ++digits;
    }
  }
  // Digits by the order in which axes name them.
  std::vector<int> renamed(static_cast<std::size_t>(digits), -1);
  int named = 0;
  Pattern pattern = 0;
  for (std::size_t a = 0; a < mesh.size(); ++a)
    for (const int place : {at[a], then[a]}) {
      int code = place == kNowhere ? 0 : 1;
      if (place >= 0) {
        int& name = renamed[static_cast<std::size_t>(place)];
        if (name < 0) name = named++;
        code = 2 + name;
      }
      if (code >= 1 << kPlaceBits) return std::nullopt;
      pattern = pattern << kPlaceBits | static_cast<Pattern>(code);
    }
  return pattern;
}

CostNetwork::Cost MoveCosts::of(int from, int to, const Type& type) {
  if (from == to) return 0;
  const Split &before = on_.splits[from], &after = on_.splits[to];
  for (const SplitDigit& d : after.pending)
    if (std::ranges::find(before.pending, d) == before.pending.end())
      return CostNetwork::kForbidden;
  const auto pattern = pattern_of(from, to);
  if (!pattern) return cost_of_seconds(planned(from, to, bits(type.dtype)));
  const ReduceOp reduce = before.pending.empty() ? ReduceOp::sum : before.reduce;
  return cost_of_seconds(
      seconds(*pattern, reduce,
              static_cast<double>(type.elements()) * static_cast<double>(bits(type.dtype)) / 8));
}

MoveCosts::MoveCosts(OnMesh& on) : on_(on) {
  const std::vector<MeshAxis>& mesh = on.mesh.mesh.axes();
  std::vector<int> names(mesh.size());
  std::iota(names.begin(), names.end(), 0);
  constexpr std::size_t kMostWays = 24;
  if (mesh.size() > kMostAxes) return;
  do {
    const bool alike =
        std::ranges::all_of(std::views::iota(std::size_t{0}, mesh.size()), [&](std::size_t a) {
          const MeshAxis& other = mesh[static_cast<std::size_t>(names[a])];
          return mesh[a].size == other.size && mesh[a].link == other.link &&
                 mesh[a].medium == other.medium;
        });
    if (alike) names_.push_back(names);
  } while (names_.size() < kMostWays && std::ranges::next_permutation(names).found);
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

double MoveCosts::planned(int from, int to, std::int64_t element_bits) {
  std::pair<int, int> first{from, to};
  for (std::size_t way = 1; way < names_.size(); ++way)
    first = std::min(first, std::pair(renamed(from, way), renamed(to, way)));
  return on_.routes.find(first.first, first.second, element_bits).seconds;
}

double MoveCosts::seconds(Pattern pattern, ReduceOp reduce, double bytes) {
  const double at_least = std::max(bytes, kLeastBytes);
  const int below = step_below(at_least);
  const double low = planned(pattern, reduce, below), high = planned(pattern, reduce, below + 1);
  const double begin = bytes_of_step(below), end = bytes_of_step(below + 1);
  return low + std::max(0.0, (at_least - begin) / (end - begin)) * (high - low);
}

// A value whose dimensions are just large enough for the pattern, with another one that makes up
// for the rest of so many bytes.
double MoveCosts::planned(Pattern pattern, ReduceOp reduce, int step) {
  std::vector<double>& known = known_[reduce][pattern];
  const auto place = static_cast<std::size_t>(step);
  if (known.size() <= place) known.resize(place + 1, -1);
  if (known[place] >= 0) return known[place];
  const std::vector<MeshAxis>& mesh = on_.mesh.mesh.axes();
  std::array<SplitAxes, kPlaces> before, after;  // nowhere, pending, then digits
  for (std::size_t a = 0; a < mesh.size(); ++a) {
    const Pattern both = pattern >> (2 * kPlaceBits * (mesh.size() - 1 - a));
    const SplitDigit digit{mesh[a].size, static_cast<int>(a)};
    before[both >> kPlaceBits & (kPlaces - 1)].push_back(digit);
    after[both & (kPlaces - 1)].push_back(digit);
  }
  Split from, to;
  double elements = 1;
  for (std::size_t d = 2; d < kPlaces; ++d) {
    if (before[d].empty() && after[d].empty()) continue;
    const std::int64_t size = std::max(total(before[d]), total(after[d]));
    from.dims.push_back(DimSplit::blocks(size, before[d]));
    to.dims.push_back(DimSplit::blocks(size, after[d]));
    elements *= static_cast<double>(size);
  }
  const auto rest = std::max<std::int64_t>(1, std::llround(bytes_of_step(step) / elements));
  from.dims.push_back({rest, {}});
  to.dims.push_back({rest, {}});
  from.pending = before[1];
  to.pending = after[1];
  from.reduce = to.reduce = reduce;
  constexpr std::int64_t kBits = 8;
  return known[place] =
             on_.routes.find(on_.split_id(std::move(from)), on_.split_id(std::move(to)), kBits)
                 .seconds;
}

}  // namespace heddle::search
