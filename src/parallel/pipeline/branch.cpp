// Branch and bound over the stages of nodes.
#include <algorithm>

#include "parallel/pipeline/cut.h"

namespace heddle::pipeline {

namespace {

class Brancher {
 public:
  Brancher(const CutProblem& problem, const Judge& judge, Stages& best, Worth& worth,
           const CutOptions& options)
      : problem_(problem),
        shape_(problem.shape),
        judge_(judge),
        best_(best),
        worth_(worth),
        options_(options),
        order_(sorted(problem.graph)),
        stages_(problem.graph.nodes.size(), 0),
        members_(static_cast<std::size_t>(shape_.virtual_stages()), 0),
        forward_(members_.size(), 0),
        backward_(members_.size(), 0),
        busy_(static_cast<std::size_t>(shape_.stages), 0) {
    const std::size_t count = problem.graph.nodes.size();
    before_.resize(count);
    for (const auto& [a, b] : problem.graph.constraints())
      before_[static_cast<std::size_t>(b)].push_back(a);
    meets_.assign(members_.size(), std::vector<int>(members_.size(), 0));
    meets_back_ = meets_;
    find_pairs();
    find_memory();
  }

  bool run() {
    if (order_.empty()) return true;
    place(0);
    return !ended_;
  }

 private:
  // Whether a value says that one stage waits for another, forward or on the way back.
  void find_pairs() {
    forward_pairs_.resize(problem_.graph.nodes.size());
    backward_pairs_.resize(problem_.graph.nodes.size());
    std::vector<std::size_t> place(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) place[static_cast<std::size_t>(order_[i])] = i;
    for (const CutGraph::Value& v : problem_.graph.values) {
      auto& pairs = v.of_backward ? backward_pairs_ : forward_pairs_;
      for (int user : v.of_backward ? v.backward_users : v.forward_users) {
        const bool user_later =
            place[static_cast<std::size_t>(user)] > place[static_cast<std::size_t>(v.maker)];
        const int later = user_later ? user : v.maker, sooner = user_later ? v.maker : user;
        if (later != sooner) pairs[static_cast<std::size_t>(later)].push_back(sooner);
      }
    }
  }

  void find_memory() {
    const std::size_t count = problem_.graph.nodes.size();
    residents_.resize(count);
    kept_by_.resize(count);
    resident_.assign(busy_.size(), 0);
    kept_.assign(members_.size(), 0);
    users_.assign(problem_.graph.values.size(), std::vector<int>(members_.size(), 0));
    for (const CutGraph::Resident& r : problem_.graph.residents)
      if (r.users.size() == 1) residents_[static_cast<std::size_t>(r.users[0])].push_back(r.bytes);
    for (std::size_t v = 0; v < problem_.graph.values.size(); ++v)
      if (!problem_.graph.values[v].of_backward)
        for (int user : problem_.graph.values[v].backward_users)
          kept_by_[static_cast<std::size_t>(user)].push_back(v);
  }

  bool out_of_time() {
    constexpr std::int64_t kLooks = 20'000, kAsk = 1024;
    ++looks_;
    if (options_.level < 3 && looks_ > kLooks) ended_ = true;
    if (looks_ % kAsk == 0 && options_.stop && options_.stop()) ended_ = true;
    return ended_;
  }

  void place(std::size_t i) {
    if (out_of_time()) return;
    if (i == order_.size()) return judge();
    const auto node = static_cast<std::size_t>(order_[i]);
    int least = 0;
    for (int b : before_[node]) least = std::max(least, stages_[static_cast<std::size_t>(b)]);
    for (int stage = least; stage < shape_.virtual_stages() && !ended_; ++stage) {
      put(node, stage, 1);
      if (may_fill(i + 1) && !too_full() && !hopeless()) place(i + 1);
      put(node, stage, -1);
    }
  }

  void put(std::size_t node, int stage, int sign) {
    const auto s = static_cast<std::size_t>(stage);
    const CutGraph::Node& one = problem_.graph.nodes[node];
    stages_[node] = stage;
    members_[s] += sign;
    forward_[s] += sign * one.forward;
    backward_[s] += sign * (shape_.backward ? one.backward : 0);
    busy_[s % busy_.size()] += sign * (one.forward + (shape_.backward ? one.backward : 0));
    for (std::int64_t bytes : residents_[node]) resident_[s % busy_.size()] += sign * bytes;
    for (std::size_t v : kept_by_[node]) {
      int& users = users_[v][s];
      if (users == (sign > 0 ? 0 : 1)) kept_[s] += sign * problem_.graph.values[v].bytes;
      users += sign;
    }
    for (int other : forward_pairs_[node]) {
      const auto o = static_cast<std::size_t>(stages_[static_cast<std::size_t>(other)]);
      if (o != s) meets_[std::min(o, s)][std::max(o, s)] += sign;
    }
    for (int other : backward_pairs_[node]) {
      const auto o = static_cast<std::size_t>(stages_[static_cast<std::size_t>(other)]);
      if (o != s) meets_back_[std::min(o, s)][std::max(o, s)] += sign;
    }
  }

  // Whether there are nodes left for all stages that have none.
  bool may_fill(std::size_t placed) const {
    const auto empty = static_cast<std::size_t>(std::ranges::count(members_, 0));
    return order_.size() - placed >= empty;
  }

  // Whether what is placed takes longer than the best so far, even if nothing else came. A stage
  // begins after those that it waits for, then works, then those wait for it on the way back.
  bool hopeless() const {
    if (worth_.excess > 0) return false;
    const double limit = worth_.seconds * (1 - 1e-12);
    std::vector<double> head(members_.size(), 0), tail(members_.size(), 0);
    for (std::size_t s = 0; s < members_.size(); ++s)
      for (std::size_t u = 0; u < s; ++u) {
        if (meets_[u][s] > 0) head[s] = std::max(head[s], head[u] + forward_[u] + latency(u, s));
        if (meets_back_[u][s] > 0)
          tail[s] = std::max(tail[s], tail[u] + backward_[u] + latency(u, s));
      }
    for (std::size_t s = 0; s < busy_.size(); ++s)
      if (head[s] + shape_.micro_batches * busy_[s] + tail[s] >= limit) return true;
    return false;
  }

  double latency(std::size_t a, std::size_t b) const {
    return a % busy_.size() == b % busy_.size() ? 0 : problem_.link.latency;
  }

  // What is placed holds so much that nothing better than the best so far can come of it.
  bool too_full() const {
    if (problem_.memory_limit == INT64_MAX) return false;
    for (std::size_t s = 0; s < busy_.size(); ++s) {
      const int ahead = shape_.stages - static_cast<int>(s);
      const int under_way = shape_.chunks > 1 ? 1 : std::min(ahead, shape_.micro_batches);
      const std::int64_t excess =
          resident_[s] + (shape_.backward ? under_way * kept_[s] : 0) - problem_.memory_limit;
      if (excess > 0 && excess >= worth_.excess) return true;
    }
    return false;
  }

  void judge() {
    const Worth worth = judge_.worth(stages_);
    if (!(worth < worth_)) return;
    worth_ = worth;
    best_ = stages_;
  }

  const CutProblem& problem_;
  const PipelineShape& shape_;
  const Judge& judge_;
  Stages& best_;
  Worth& worth_;
  const CutOptions& options_;
  std::vector<int> order_;
  Stages stages_;
  std::vector<int> members_;                                               // by virtual stage
  std::vector<double> forward_, backward_;                                 // by virtual stage
  std::vector<double> busy_;                                               // by stage
  std::vector<std::vector<int>> before_, forward_pairs_, backward_pairs_;  // by node
  std::vector<std::vector<int>> meets_, meets_back_;  // virtual stages: how many values
  std::vector<std::vector<std::int64_t>> residents_;  // by node: those of it alone
  std::vector<std::vector<std::size_t>> kept_by_;     // by node: values for its way back
  std::vector<std::int64_t> resident_, kept_;         // by stage, by virtual stage
  std::vector<std::vector<int>> users_;               // by value and virtual stage
  std::int64_t looks_ = 0;
  bool ended_ = false;
};

}  // namespace

bool branch(const CutProblem& problem, const Judge& judge, Stages& best, Worth& worth,
            const CutOptions& options) {
  return Brancher(problem, judge, best, worth, options).run();
}

}  // namespace heddle::pipeline
