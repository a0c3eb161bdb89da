// Values that take more than there is.
#include <algorithm>

#include "parallel/solver/model.h"

namespace heddle::solver {
namespace {

// The least of a range of numbers, for ranges of any place and length.
class RangeLeast {
 public:
  explicit RangeLeast(const std::vector<std::int64_t>& numbers) : levels_{numbers} {
    for (std::size_t width = 2; width <= numbers.size(); width *= 2) {
      const auto& last = levels_.back();
      std::vector<std::int64_t> level(numbers.size() - width + 1);
      for (std::size_t i = 0; i < level.size(); ++i)
        level[i] = std::min(last[i], last[i + width / 2]);
      levels_.push_back(std::move(level));
    }
  }
  std::int64_t operator()(int begin, int end) const {
    int level = 0;
    while ((2 << level) <= end - begin) ++level;
    return std::min(levels_[level][begin], levels_[level][end - (1 << level)]);
  }

 private:
  std::vector<std::vector<std::int64_t>> levels_;  // of 1, 2, 4 ... numbers from a place on
};

struct Boundary {
  int time = 0, sign = 1;
  const Piece* piece = nullptr;
};

std::vector<Boundary> boundaries_of(const Variable& variable) {
  std::vector<Boundary> boundaries;
  for (const Piece& piece : variable.pieces) {
    boundaries.push_back({piece.begin, 1, &piece});
    boundaries.push_back({piece.end, -1, &piece});
  }
  std::sort(boundaries.begin(), boundaries.end(),
            [](const Boundary& a, const Boundary& b) { return a.time < b.time; });
  return boundaries;
}

bool forbid_in(Variable& variable, const RangeLeast& least) {
  const std::vector<Boundary> boundaries = boundaries_of(variable);
  std::vector<std::int64_t> taken(variable.costs.size());
  bool changed = false;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    const auto& amounts = boundaries[i].piece->amounts;
    for (std::size_t x = 0; x < taken.size(); ++x) taken[x] += boundaries[i].sign * amounts[x];
    if (i + 1 == boundaries.size() || boundaries[i + 1].time == boundaries[i].time) continue;
    const std::int64_t room = least(boundaries[i].time, boundaries[i + 1].time);
    for (std::size_t x = 0; x < taken.size(); ++x)
      if (taken[x] > room && variable.costs[x] != kForbidden) {
        variable.costs[x] = kForbidden;
        changed = true;
      }
  }
  return changed;
}

}  // namespace

std::vector<int> forbid_without_room(Model& model) {
  std::vector<int> changed;
  if (model.room.empty()) return changed;
  const RangeLeast least(model.room);
  for (std::size_t v = 0; v < model.variables.size(); ++v)
    if (forbid_in(model.variables[v], least)) changed.push_back(static_cast<int>(v));
  return changed;
}

}  // namespace heddle::solver
