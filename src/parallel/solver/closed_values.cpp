#include "parallel/solver/closed_values.h"

#include <algorithm>
#include <limits>

namespace heddle::solver {
namespace {

class RoomCloser {
 public:
  RoomCloser(const Core& core, std::vector<char>& closed) : core_(core), closed_(closed) {
    for (int v = 0; v < core.variables(); ++v)
      if (!core.usages(v).empty()) takers_.push_back(v);
  }

  bool run() {
    for (bool again = true; again;) {
      if (!find_least()) return false;
      again = false;
      for (std::size_t i = 0; i < takers_.size(); ++i) again = close(i) || again;
    }
    return true;
  }

 private:
  // What values of a variable take: a row of times for each.
  void lay_out(int v) {
    taken_.assign(static_cast<std::size_t>(core_.values(v)) * core_.times(), 0);
    for (const Core::Usage& usage : core_.usages(v))
      for (int x = 0; x < core_.values(v); ++x)
        for (int t = usage.begin; t < usage.end; ++t)
          taken_[static_cast<std::size_t>(x) * core_.times() + t] += usage.amounts[x];
  }
  const std::int64_t* row(int x) const {
    return taken_.data() + static_cast<std::size_t>(x) * core_.times();
  }

  // What each variable takes at least, and the room that this leaves; false: none.
  bool find_least() {
    left_ = core_.room();
    least_.clear();
    for (const int v : takers_) {
      lay_out(v);
      std::vector<std::int64_t> least(core_.times(), std::numeric_limits<std::int64_t>::max());
      bool is_open = false;
      for (int x = 0; x < core_.values(v); ++x) {
        if (closed_[core_.start(v) + x] != 0) continue;
        is_open = true;
        for (int t = 0; t < core_.times(); ++t) least[t] = std::min(least[t], row(x)[t]);
      }
      if (!is_open) return false;
      for (int t = 0; t < core_.times(); ++t) left_[t] -= least[t];
      least_.push_back(std::move(least));
    }
    return std::none_of(left_.begin(), left_.end(), [](std::int64_t room) { return room < 0; });
  }

  bool close(std::size_t taker) {
    const int v = takers_[taker];
    lay_out(v);
    bool any = false;
    for (int x = 0; x < core_.values(v); ++x) {
      char& closed = closed_[core_.start(v) + x];
      const bool was_open = closed == 0;
      for (int t = 0; t < core_.times() && closed == 0; ++t)
        closed = row(x)[t] - least_[taker][t] > left_[t] ? 1 : 0;
      any = any || (closed != 0 && was_open);
    }
    return any;
  }

  const Core& core_;
  std::vector<char>& closed_;
  std::vector<int> takers_;
  std::vector<std::int64_t> taken_, left_;
  std::vector<std::vector<std::int64_t>> least_;
};

}  // namespace

bool close_without_room(const Core& core, std::vector<char>& closed) {
  return RoomCloser(core, closed).run();
}

}  // namespace heddle::solver
