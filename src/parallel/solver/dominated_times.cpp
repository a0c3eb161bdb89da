// Times that cannot be full unless another one is.
#include <algorithm>
#include <numeric>

#include "parallel/solver/model.h"

namespace heddle::solver {
namespace {

constexpr std::int64_t kMostWork = 400'000'000;  // amounts that are looked at

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

  // Marks the times at which, whatever is chosen, there is at least as much room as at `full`.
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
  int values_ = 0;
  std::int64_t work_ = 0;
};

}  // namespace

std::vector<char> dominated_times(const Model& model) {
  const TimeSweep sweep(model);
  std::vector<char> dropped(model.room.size());
  std::vector<int> order(model.room.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> average = sweep.average();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return average[a] - static_cast<double>(model.room[a]) >
           average[b] - static_cast<double>(model.room[b]);
  });
  std::int64_t work = 0;
  for (const int full : order) {
    if (dropped[full] != 0) continue;
    sweep.drop_implied(full, dropped);
    work += sweep.work();
    if (work > kMostWork) break;
  }
  return dropped;
}

}  // namespace heddle::solver
