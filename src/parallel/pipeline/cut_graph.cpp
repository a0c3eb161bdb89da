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

// ---- costs

namespace {

class CostSum {
 public:
  CostSum(const CutProblem& problem, const Stages& stages)
      : problem_(problem), shape_(problem.shape), stages_(stages) {
    const auto positions = static_cast<std::size_t>(shape_.positions()),
               physical = static_cast<std::size_t>(shape_.stages);
    costs_.seconds.assign(positions, 0);
    costs_.while_busy.assign(positions, 0);
    costs_.kept.assign(static_cast<std::size_t>(shape_.virtual_stages()), 0);
    costs_.once.assign(physical, 0);
    costs_.resident.assign(physical, 0);
  }

  PipelineCosts run() {
    for (std::size_t n = 0; n < stages_.size(); ++n) add_node(n);
    for (const CutGraph::Value& v : problem_.graph.values) add_value(v);
    for (const CutGraph::Resident& r : problem_.graph.residents) add_resident(r);
    for (const auto& [edge, bytes] : sent_) {
      const bool stays = shape_.stage_of(edge.from) == shape_.stage_of(edge.to);
      costs_.transfers.push_back({edge.from, edge.to, stays ? 0 : seconds_for(bytes)});
    }
    return std::move(costs_);
  }

 private:
  int stage_of(int node) const { return stages_[static_cast<std::size_t>(node)]; }
  int back(int stage) const { return 2 * shape_.virtual_stages() - 1 - stage; }
  double seconds_for(std::int64_t bytes) const {
    return problem_.link.latency + static_cast<double>(bytes) / problem_.link.bandwidth;
  }

  void add_node(std::size_t n) {
    const CutGraph::Node& node = problem_.graph.nodes[n];
    const auto stage = static_cast<std::size_t>(stages_[n]);
    costs_.seconds[stage] += node.forward;
    costs_.while_busy[stage] = std::max(costs_.while_busy[stage], node.while_forward);
    if (!shape_.backward) return;
    const auto way_back = static_cast<std::size_t>(back(stages_[n]));
    costs_.seconds[way_back] += node.backward;
    costs_.while_busy[way_back] = std::max(costs_.while_busy[way_back], node.while_backward);
  }

  // Each stage is sent it once, for the first position that needs it, and keeps it for the others.
  void add_value(const CutGraph::Value& v) {
    const int maker = stage_of(v.maker), from = v.of_backward ? back(maker) : maker;
    std::map<int, int> first;  // position, by stage of the devices
    std::set<int> kept;        // virtual stages
    if (v.kept) kept.insert(maker);
    for (int user : v.forward_users) note(first, stage_of(user));
    for (int user : v.backward_users) {
      note(first, back(stage_of(user)));
      if (!v.of_backward) kept.insert(stage_of(user));
    }
    // Later virtual stages of the same devices find it there.
    for (const auto& [devices, position] : first)
      if (position != from) sent_[{from, position}] += v.bytes;
    for (int stage : kept) costs_.kept[static_cast<std::size_t>(stage)] += v.bytes;
  }

  void note(std::map<int, int>& first, int position) const {
    auto [it, is_new] = first.try_emplace(shape_.stage_of(position), position);
    if (!is_new) it->second = std::min(it->second, position);
  }

  void add_resident(const CutGraph::Resident& r) {
    if (r.users.empty()) return;
    std::set<int> devices;
    int first = shape_.virtual_stages();
    for (int user : r.users) {
      first = std::min(first, stage_of(user));
      devices.insert(stage_of(user) % shape_.stages);
    }
    const auto owner = static_cast<std::size_t>(first % shape_.stages);
    costs_.resident[owner] += r.bytes;
    costs_.once[owner] += r.update;
    for (int other : devices) {
      if (static_cast<std::size_t>(other) == owner) continue;
      costs_.resident[static_cast<std::size_t>(other)] += r.shared_bytes;
      // It comes before the step, and its gradient goes back after it.
      costs_.once[owner] += seconds_for(r.shared_bytes);
      costs_.once[static_cast<std::size_t>(other)] += seconds_for(r.shared_bytes);
    }
  }

  const CutProblem& problem_;
  const PipelineShape& shape_;
  const Stages& stages_;
  PipelineCosts costs_;
  std::map<PipelineEdge, std::int64_t> sent_;
};

}  // namespace

PipelineCosts costs_of(const CutProblem& problem, const Stages& stages) {
  return CostSum(problem, stages).run();
}

}  // namespace heddle::pipeline
