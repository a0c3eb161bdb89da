// Random graphs to be cut into stages, and a look at every cut of one.
#pragma once

#include <optional>

#include "choices.h"
#include "parallel/pipeline/cut.h"

namespace heddle::property {

inline pipeline::CutGraph random_cut_graph(Choices& choices, int most_nodes, bool backward) {
  pipeline::CutGraph graph;
  const int count = 1 + static_cast<int>(choices.below(most_nodes));
  const auto seconds = [&] { return static_cast<double>(choices.below(9)); };
  for (int n = 0; n < count; ++n)
    graph.nodes.push_back({1 + seconds(), backward ? seconds() : 0, choices.below(4), 0});
  const std::int64_t density = 1 + choices.below(4);
  for (int n = 0; n < count; ++n) {
    pipeline::CutGraph::Value value{n, false, choices.one_in(4), 1 + choices.below(20)};
    pipeline::CutGraph::Value gradient{n, true, false, 1 + choices.below(20)};
    for (int user = n; user < count; ++user)
      if (user > n && choices.one_in(density + 1)) value.forward_users.push_back(user);
    if (backward) {
      // What is used forward is mostly needed on the way back, on either side.
      for (int user : value.forward_users)
        if (choices.one_in(2)) value.backward_users.push_back(user);
      if (choices.one_in(2)) value.backward_users.push_back(n);
      for (int user = 0; user < n; ++user)
        if (choices.one_in(density + 2)) gradient.backward_users.push_back(user);
    }
    graph.values.push_back(std::move(value));
    graph.values.push_back(std::move(gradient));
    graph.residents.push_back({1 + choices.below(30), 5, 0.25 * seconds(), {n}});
  }
  if (choices.one_in(3))
    graph.residents.push_back({10, 5, 1, {0, static_cast<int>(choices.below(count))}});
  return graph;
}

// Every cut, without any thought.
class EveryCut {
 public:
  EveryCut(const pipeline::CutProblem& problem, std::int64_t most)
      : problem_(problem),
        judge_(problem),
        constraints_(problem.graph.constraints()),
        stages_(problem.graph.nodes.size(), 0),
        most_(most) {}

  // Nothing where there are too many to look at.
  bool look() {
    place(0);
    return looks_ <= most_;
  }
  std::optional<double> best;        // seconds of the best one; none where nothing fits
  std::optional<double> best_chain;  // of those whose stages wait for each other

 private:
  bool allowed(std::size_t n) const {
    for (const auto& [a, b] : constraints_) {
      const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
      if (std::max(first, second) == n && stages_[first] > stages_[second]) return false;
    }
    return true;
  }

  void place(std::size_t n) {
    if (looks_ > most_) return;
    if (n == stages_.size()) return judge();
    for (int s = 0; s < problem_.shape.virtual_stages(); ++s) {
      stages_[n] = s;
      if (allowed(n)) place(n + 1);
    }
  }

  void judge() {
    for (int s = 0; s < problem_.shape.virtual_stages(); ++s)
      if (std::ranges::find(stages_, s) == stages_.end()) return;
    ++looks_;
    const pipeline::Worth worth = judge_.worth(stages_);
    if (worth.excess > 0) return;
    if (!best || worth.seconds < *best) best = worth.seconds;
    if (pipeline::is_chain(problem_.shape, pipeline::costs_of(problem_, stages_)) &&
        (!best_chain || worth.seconds < *best_chain))
      best_chain = worth.seconds;
  }

  const pipeline::CutProblem& problem_;
  pipeline::Judge judge_;
  std::vector<std::pair<int, int>> constraints_;
  pipeline::Stages stages_;
  std::int64_t most_, looks_ = 0;
};

}  // namespace heddle::property
