// Times that cannot be full unless another one is.
#include <algorithm>
#include <numeric>

#include "parallel/solver/model.h"

namespace heddle::solver {
namespace {

constexpr std::int64_t kMostWork = 60'000'000;  // amounts that are looked at
constexpr int kLooks = 500;                     // after which it looks what came out
constexpr int kFailures = 24;                   // in a row, after which no nearby time is looked at

// One variable's piece, at the time where it begins or ends.
struct Event {
  int variable = 0;
  const Piece* piece = nullptr;
  int sign = 1;
};

class TimeSweep {
 public:
  explicit TimeSweep(const Model& model) : model_(model), events_(model.room.size() + 1) {
    for (std::size_t v = 0; v < model.variables.size(); ++v) {
      starts_.push_back(values_);
      values_ += static_cast<int>(model.variables[v].costs.size());
      for (const Piece& piece : model.variables[v].pieces) {
        events_[piece.begin].push_back({static_cast<int>(v), &piece, 1});
        events_[piece.end].push_back({static_cast<int>(v), &piece, -1});
        work_ += 2 * static_cast<std::int64_t>(piece.amounts.size());
      }
    }
    starts_.push_back(values_);
    more_.assign(values_, 0);
    most_.assign(model.variables.size(), 0);
  }

  // Amounts looked at by one sweep.
  std::int64_t work() const { return work_ + values_; }

  // What is taken at each time if every value is as likely.
  std::vector<double> average() const {
    std::vector<double> result(model_.room.size());
    double now = 0;
    for (std::size_t t = 0; t < result.size(); ++t) {
      for (const Event& event : events_[t]) {
        const auto& amounts = event.piece->amounts;
        now += event.sign * std::accumulate(amounts.begin(), amounts.end(), 0.0) /
               static_cast<double>(amounts.size());
      }
      result[t] = now;
    }
    return result;
  }

  // Marks times near to `full` at which, whatever is chosen, there is at least as much room as
  // then. Returns the amounts that it looked at.
  std::int64_t drop_near(int full, std::vector<char>& dropped) {
    std::int64_t work = 0;
    for (const int step : {1, -1}) {
      std::int64_t sum = 0;
      touched_.clear();
      int failures = 0;
      const int end = static_cast<int>(model_.room.size());
      for (int t = full + step; t >= 0 && t < end && failures < kFailures; t += step) {
        // Between two times lies what begins or ends with the later one.
        for (const Event& event : events_[std::max(t, t - step)]) {
          add(more_, event.variable, *event.piece, step * event.sign);
          touched_.push_back(event.variable);
          const std::int64_t now = most_of(more_, event.variable);
          sum += now - most_[event.variable];
          most_[event.variable] = now;
          work += static_cast<std::int64_t>(event.piece->amounts.size());
        }
        if (dropped[t] != 0) continue;
        const bool implied = sum <= model_.room[t] - model_.room[full];
        dropped[t] = implied ? 1 : 0;
        failures = implied ? 0 : failures + 1;
      }
      for (const int v : touched_) {
        std::fill(more_.begin() + starts_[v], more_.begin() + starts_[v + 1], 0);
        most_[v] = 0;
      }
    }
    return work;
  }

  // The same for all times.
  void drop_implied(int full, std::vector<char>& dropped) const {
    std::vector<std::int64_t> more(values_, 0);  // than at `full`, by value
    std::vector<std::int64_t> most(model_.variables.size(), 0);
    for (std::size_t v = 0; v < model_.variables.size(); ++v)
      for (const Piece& piece : model_.variables[v].pieces)
        if (piece.begin <= full && full < piece.end) add(more, static_cast<int>(v), piece, -1);
    std::int64_t sum = 0;
    for (std::size_t v = 0; v < most.size(); ++v) sum += most[v] = most_of(more, v);
    for (std::size_t t = 0; t < model_.room.size(); ++t) {
      for (const Event& event : events_[t]) add(more, event.variable, *event.piece, event.sign);
      for (const Event& event : events_[t]) {
        const std::int64_t now = most_of(more, event.variable);
        sum += now - most[event.variable];
        most[event.variable] = now;
      }
      if (static_cast<int>(t) != full && sum <= model_.room[t] - model_.room[full]) dropped[t] = 1;
    }
  }

 private:
  void add(std::vector<std::int64_t>& more, int variable, const Piece& piece, int sign) const {
    std::int64_t* const own = more.data() + starts_[variable];
    for (std::size_t x = 0; x < piece.amounts.size(); ++x) own[x] += sign * piece.amounts[x];
  }
  std::int64_t most_of(const std::vector<std::int64_t>& more, std::size_t variable) const {
    // Variables that are gone have no values.
    if (starts_[variable] == starts_[variable + 1]) return 0;
    return *std::max_element(more.begin() + starts_[variable],
                             more.begin() + starts_[variable + 1]);
  }

  const Model& model_;
  std::vector<std::vector<Event>> events_;
  std::vector<int> starts_;
  // Than at the time at hand: by value, and by variable; all 0 in between.
  std::vector<std::int64_t> more_, most_;
  std::vector<int> touched_;
  int values_ = 0;
  std::int64_t work_ = 0;
};

// Fullest first.
std::vector<int> by_fullness(const TimeSweep& sweep, const Model& model) {
  std::vector<int> order(model.room.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> average = sweep.average();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return average[a] - static_cast<double>(model.room[a]) >
           average[b] - static_cast<double>(model.room[b]);
  });
  return order;
}

void drop_implied_near(Model& model) {
  TimeSweep sweep(model);
  std::vector<char> dropped(model.room.size());
  std::int64_t work = 0;
  int looked = 0;
  for (const int full : by_fullness(sweep, model)) {
    if (dropped[full] != 0) continue;
    work += sweep.drop_near(full, dropped);
    // Where most times count there is little to win.
    if (++looked % kLooks == 0 && std::count(dropped.begin(), dropped.end(), 1) < looked / 16)
      break;
    if (work > kMostWork) break;
  }
  drop_times(model, dropped);
}

void drop_implied_far(Model& model) {
  const TimeSweep sweep(model);
  std::vector<char> dropped(model.room.size());
  std::int64_t work = 0;
  for (const int full : by_fullness(sweep, model)) {
    if (dropped[full] != 0) continue;
    work += sweep.work();
    if (work > kMostWork) break;
    sweep.drop_implied(full, dropped);
  }
  drop_times(model, dropped);
}

}  // namespace

void drop_dominated_times(Model& model) {
  drop_implied_near(model);
  drop_implied_far(model);
}

}  // namespace heddle::solver
