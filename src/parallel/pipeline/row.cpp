// Cuts of nodes in a row, by dynamic programming.
#include <algorithm>
#include <limits>

#include "parallel/pipeline/cut.h"

namespace heddle::pipeline {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Row {
 public:
  Row(const CutProblem& problem, const std::vector<int>& row)
      : problem_(problem), count_(row.size()), place_(row.size()) {
    for (std::size_t i = 0; i < count_; ++i) place_[static_cast<std::size_t>(row[i])] = i;
    add_times(row);
    add_memory();
    find_traffic();
  }

  // For one bound of the largest stage after the other. Twice the average is as far as it may pay.
  std::optional<Stages> run() {
    const auto stages = static_cast<std::size_t>(problem_.shape.virtual_stages());
    if (count_ < stages) return std::nullopt;
    const double average = time_[count_] / static_cast<double>(stages);
    double largest = 0;
    for (std::size_t i = 0; i < count_; ++i) largest = std::max(largest, time_[i + 1] - time_[i]);
    constexpr double kStep = 1.03, kMost = 2.5;
    std::optional<Stages> best;
    double least = kNever;
    for (const bool with_memory : {true, false}) {
      for (double t = std::max(average, largest); t <= kMost * std::max(average, largest);
           t *= kStep)
        try_bound(t, with_memory, best, least);
      if (!best) try_bound(kNever, with_memory, best, least);
      if (best) return best;
    }
    return best;
  }

 private:
  void add_times(const std::vector<int>& row) {
    time_.assign(count_ + 1, 0);
    for (std::size_t i = 0; i < count_; ++i) {
      const CutGraph::Node& node = problem_.graph.nodes[static_cast<std::size_t>(row[i])];
      time_[i + 1] = time_[i] + node.forward + (problem_.shape.backward ? node.backward : 0);
    }
  }

  std::size_t first_of(const std::vector<int>& nodes) const {
    std::size_t first = count_;
    for (int n : nodes) first = std::min(first, place_[static_cast<std::size_t>(n)]);
    return first;
  }
  std::size_t last_of(const std::vector<int>& nodes) const {
    std::size_t last = 0;
    for (int n : nodes) last = std::max(last, place_[static_cast<std::size_t>(n)]);
    return last;
  }

  // As if everything lay with the first node that uses it.
  void add_memory() {
    resident_.assign(count_ + 1, 0);
    kept_.assign(count_ + 1, 0);
    for (const CutGraph::Resident& r : problem_.graph.residents)
      if (!r.users.empty()) resident_[first_of(r.users) + 1] += r.bytes;
    for (const CutGraph::Value& v : problem_.graph.values)
      if (!v.of_backward && !v.backward_users.empty())
        kept_[first_of(v.backward_users) + 1] += v.bytes;
    for (std::size_t i = 0; i < count_; ++i) {
      resident_[i + 1] += resident_[i];
      kept_[i + 1] += kept_[i];
    }
  }

  // What the stage of nodes i to j-1 sends on, and back.
  void find_traffic() {
    traffic_.assign(count_ * (count_ + 1), 0);
    std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> made(count_), last(count_),
        made_back(count_);
    for (const CutGraph::Value& v : problem_.graph.values) {
      const std::size_t maker = place_[static_cast<std::size_t>(v.maker)];
      if (!v.of_backward && !v.forward_users.empty()) {
        const std::size_t end = last_of(v.forward_users);
        if (end <= maker) continue;
        made[maker].emplace_back(end, v.bytes);
        last[end].emplace_back(maker, v.bytes);
      } else if (v.of_backward && !v.backward_users.empty()) {
        made_back[maker].emplace_back(first_of(v.backward_users), v.bytes);
      }
    }
    for (std::size_t i = 0; i < count_; ++i) {
      std::int64_t on = 0, back = 0;
      for (std::size_t j = i + 1; j <= count_; ++j) {
        for (const auto& [end, bytes] : made[j - 1]) on += bytes;
        for (const auto& [maker, bytes] : last[j - 1])
          if (maker >= i) on -= bytes;
        for (const auto& [first, bytes] : made_back[j - 1])
          if (first < i) back += bytes;
        traffic_[i * (count_ + 1) + j] = seconds_for(on) + seconds_for(back);
      }
    }
  }

  double seconds_for(std::int64_t bytes) const {
    return bytes == 0
               ? 0
               : problem_.link.latency + static_cast<double>(bytes) / problem_.link.bandwidth;
  }

  // For chunks only a part of the memory is known here; who judges the cut knows all.
  bool fits(std::size_t i, std::size_t j, int stage) const {
    if (problem_.memory_limit == INT64_MAX) return true;
    const int under_way = problem_.shape.chunks > 1 ? 1
                                                    : std::min(problem_.shape.stages - stage,
                                                               problem_.shape.micro_batches);
    return resident_[j] - resident_[i] + under_way * (kept_[j] - kept_[i]) <= problem_.memory_limit;
  }

  void try_bound(double bound, bool with_memory, std::optional<Stages>& best, double& least) {
    const int stages = problem_.shape.virtual_stages();
    const std::size_t width = count_ + 1;
    std::vector<double> costs(width, kNever), next(width);
    std::vector<std::vector<std::size_t>> from(static_cast<std::size_t>(stages),
                                               std::vector<std::size_t>(width, 0));
    costs[0] = 0;
    for (int s = 0; s < stages; ++s) {
      next.assign(width, kNever);
      for (std::size_t i = static_cast<std::size_t>(s); i < count_; ++i) {
        if (costs[i] == kNever) continue;
        for (std::size_t j = i + 1; j <= count_ && time_[j] - time_[i] <= bound * (1 + 1e-9); ++j) {
          const double cost = costs[i] + traffic_[i * width + j];
          if (cost >= next[j] || (with_memory && !fits(i, j, s))) continue;
          next[j] = cost;
          from[static_cast<std::size_t>(s)][j] = i;
        }
      }
      std::swap(costs, next);
    }
    if (costs[count_] == kNever) return;
    const double waits = bound == kNever ? time_[count_] : bound;
    const double all =
        costs[count_] + (problem_.shape.micro_batches - 1) * waits * problem_.shape.chunks;
    if (all >= least) return;
    least = all;
    Stages by_place(count_);
    std::size_t end = count_;
    for (int s = stages; s-- > 0;) {
      const std::size_t begin = from[static_cast<std::size_t>(s)][end];
      for (std::size_t i = begin; i < end; ++i) by_place[i] = s;
      end = begin;
    }
    best.emplace(count_);
    for (std::size_t n = 0; n < count_; ++n) (*best)[n] = by_place[place_[n]];
  }

  const CutProblem& problem_;
  std::size_t count_;
  std::vector<std::size_t> place_;  // by node
  std::vector<double> time_;        // of all before a place
  std::vector<std::int64_t> resident_, kept_;
  std::vector<double> traffic_;  // seconds, by first and end
};

}  // namespace

std::optional<Stages> cut_in_a_row(const CutProblem& problem, const std::vector<int>& row) {
  return Row(problem, row).run();
}

}  // namespace heddle::pipeline
