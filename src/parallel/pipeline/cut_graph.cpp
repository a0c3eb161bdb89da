#include "parallel/pipeline/cut_graph.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace heddle::pipeline {

std::vector<std::pair<int, int>> CutGraph::constraints() const {
  std::set<std::pair<int, int>> all(before.begin(), before.end());
  for (const Value& v : values)
    if (v.of_backward)
      for (int user : v.backward_users) all.emplace(user, v.maker);
    else
      for (int user : v.forward_users) all.emplace(v.maker, user);
  std::erase_if(all, [](const auto& pair) { return pair.first == pair.second; });
  return {all.begin(), all.end()};
}

std::vector<int> sorted(const CutGraph& graph) {
  std::vector<std::vector<int>> after(graph.nodes.size());
  std::vector<int> waits(graph.nodes.size(), 0);
  for (const auto& [a, b] : graph.constraints()) {
    after[static_cast<std::size_t>(a)].push_back(b);
    ++waits[static_cast<std::size_t>(b)];
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t n = 0; n < waits.size(); ++n)
    if (waits[n] == 0) ready.push(static_cast<int>(n));
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (int next : after[static_cast<std::size_t>(node)])
      if (--waits[static_cast<std::size_t>(next)] == 0) ready.push(next);
  }
  if (order.size() < graph.nodes.size()) order.clear();
  return order;
}

// ---- merging

namespace {

std::vector<int> groups_of(const std::vector<int>& nodes, const std::vector<int>& group_of) {
  std::set<int> groups;
  for (int n : nodes) groups.insert(group_of[static_cast<std::size_t>(n)]);
  return {groups.begin(), groups.end()};
}

// Tarjan's components, without recursion.
class Circles {
 public:
  explicit Circles(const CutGraph& graph) : after_(graph.nodes.size()) {
    for (const auto& [a, b] : graph.constraints()) after_[static_cast<std::size_t>(a)].push_back(b);
    const std::size_t count = graph.nodes.size();
    group_.assign(count, -1);
    number_.assign(count, -1);
    low_.assign(count, 0);
  }

  std::vector<int> run() {
    for (std::size_t n = 0; n < after_.size(); ++n)
      if (number_[n] < 0) visit(n);
    return group_;
  }

 private:
  void enter(std::size_t n) {
    number_[n] = low_[n] = count_++;
    open_.push_back(n);
    path_.emplace_back(n, 0);
  }

  void visit(std::size_t root) {
    enter(root);
    while (!path_.empty()) {
      const std::size_t n = path_.back().first;
      if (path_.back().second < after_[n].size()) {
        const auto next = static_cast<std::size_t>(after_[n][path_.back().second++]);
        if (number_[next] < 0)
          enter(next);
        else if (group_[next] < 0)
          low_[n] = std::min(low_[n], number_[next]);
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) {
        int& low = low_[path_.back().first];
        low = std::min(low, low_[n]);
      }
      if (low_[n] == number_[n]) close(n);
    }
  }

  void close(std::size_t n) {
    for (bool last = false; !last;) {
      last = open_.back() == n;
      group_[open_.back()] = groups_;
      open_.pop_back();
    }
    ++groups_;
  }

  std::vector<std::vector<int>> after_;
  std::vector<int> group_, number_, low_;
  std::vector<std::size_t> open_;
  std::vector<std::pair<std::size_t, std::size_t>> path_;
  int count_ = 0, groups_ = 0;
};

}  // namespace

Merged merged(const CutGraph& graph, const std::vector<int>& group_of) {
  Merged out;
  out.node_of = group_of;
  int count = 0;
  for (int g : group_of) count = std::max(count, g + 1);
  out.graph.nodes.resize(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const CutGraph::Node& from = graph.nodes[n];
    CutGraph::Node& to = out.graph.nodes[static_cast<std::size_t>(group_of[n])];
    to.forward += from.forward;
    to.backward += from.backward;
    to.while_forward = std::max(to.while_forward, from.while_forward);
    to.while_backward = std::max(to.while_backward, from.while_backward);
  }
  for (const CutGraph::Value& v : graph.values)
    out.graph.values.push_back({group_of[static_cast<std::size_t>(v.maker)], v.of_backward, v.kept,
                                v.bytes, groups_of(v.forward_users, group_of),
                                groups_of(v.backward_users, group_of)});
  for (const CutGraph::Resident& r : graph.residents) {
    out.graph.residents.push_back(r);
    out.graph.residents.back().users = groups_of(r.users, group_of);
  }
  for (const auto& [a, b] : graph.before)
    if (const int ga = group_of[static_cast<std::size_t>(a)],
        gb = group_of[static_cast<std::size_t>(b)];
        ga != gb)
      out.graph.before.emplace_back(ga, gb);
  return out;
}

Merged without_circles(const CutGraph& graph) {
  const std::vector<int> circles = Circles(graph).run();
  // Numbered by their first nodes, so that nodes keep their order.
  std::map<int, int> numbers;
  std::vector<int> group_of;
  for (int c : circles)
    group_of.push_back(numbers.try_emplace(c, static_cast<int>(numbers.size())).first->second);
  return merged(graph, group_of);
}

}  // namespace heddle::pipeline
