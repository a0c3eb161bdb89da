// What the stages of a cut take, send and hold. A search asks this for thousands of cuts of one
// graph, so that nothing is allocated twice.
#include "parallel/pipeline/cut_costs.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle::pipeline {

CutCosts::CutCosts(const CutProblem& problem)
    : problem_(problem),
      shape_(problem.shape),
      positions_(static_cast<std::size_t>(shape_.positions())),
      sent_(positions_ * positions_, 0),
      first_(static_cast<std::size_t>(shape_.stages), -1),
      kept_(static_cast<std::size_t>(shape_.virtual_stages()), false) {
  list_values();
  list_residents();
}

void CutCosts::list_values() {
  using Key = std::tuple<int, bool, bool, const std::vector<int>&, const std::vector<int>&>;
  std::map<Key, std::int64_t> alike;
  for (const CutGraph::Value& v : problem_.graph.values) {
    const auto is_maker = [&](int user) { return user == v.maker; };
    const bool stays = std::ranges::all_of(v.forward_users, is_maker) &&
                       std::ranges::all_of(v.backward_users, is_maker);
    // Nobody is sent it, nor is it kept.
    if (stays && !v.kept && (v.of_backward || v.backward_users.empty())) continue;
    alike[{v.maker, v.of_backward, v.kept, v.forward_users, v.backward_users}] += v.bytes;
  }
  for (const auto& [key, bytes] : alike) {
    const auto& [maker, of_backward, kept, forward, backward] = key;
    values_.push_back({maker, of_backward, kept, bytes, forward, backward});
  }
}

void CutCosts::list_residents() {
  own_.resize(problem_.graph.nodes.size());
  std::map<std::vector<int>, Shared> shared;
  for (const CutGraph::Resident& r : problem_.graph.residents) {
    if (r.users.empty()) continue;
    if (r.users.size() == 1) {
      Own& own = own_[static_cast<std::size_t>(r.users[0])];
      own.bytes += r.bytes;
      own.update += r.update;
      continue;
    }
    Shared& one = shared[r.users];
    one.bytes += r.bytes;
    one.shared_bytes += r.shared_bytes;
    one.update += r.update;
    one.travels += seconds_for(r.shared_bytes);
  }
  for (auto& [users, one] : shared) {
    one.users = users;
    shared_.push_back(std::move(one));
  }
}

const PipelineCosts& CutCosts::of(const Stages& stages) {
  stages_ = &stages;
  costs_.seconds.assign(positions_, 0);
  costs_.while_busy.assign(positions_, 0);
  costs_.kept.assign(kept_.size(), 0);
  costs_.once.assign(first_.size(), 0);
  costs_.resident.assign(first_.size(), 0);
  costs_.transfers.clear();
  for (std::size_t n = 0; n < stages.size(); ++n) add_node(n);
  for (const CutGraph::Value& v : values_) add_value(v);
  for (const Shared& one : shared_) add_shared(one);
  add_transfers();
  return costs_;
}

void CutCosts::add_node(std::size_t n) {
  const CutGraph::Node& node = problem_.graph.nodes[n];
  const auto stage = static_cast<std::size_t>((*stages_)[n]);
  costs_.seconds[stage] += node.forward;
  costs_.while_busy[stage] = std::max(costs_.while_busy[stage], node.while_forward);
  costs_.resident[stage % first_.size()] += own_[n].bytes;
  costs_.once[stage % first_.size()] += own_[n].update;
  if (!shape_.backward) return;
  const auto way_back = static_cast<std::size_t>(back((*stages_)[n]));
  costs_.seconds[way_back] += node.backward;
  costs_.while_busy[way_back] = std::max(costs_.while_busy[way_back], node.while_backward);
}

// Each stage is sent it once, for the first position that needs it, and keeps it for the others:
// later virtual stages of the same devices find it there.
void CutCosts::add_value(const CutGraph::Value& v) {
  const int maker = stage_of(v.maker), from = v.of_backward ? back(maker) : maker;
  if (v.kept) keep(maker);
  for (int user : v.forward_users) need_at(stage_of(user));
  for (int user : v.backward_users) {
    need_at(back(stage_of(user)));
    if (!v.of_backward) keep(stage_of(user));
  }
  for (int devices : needed_) {
    int& position = first_[static_cast<std::size_t>(devices)];
    if (position != from) send(from, position, v.bytes);
    position = -1;
  }
  needed_.clear();
  for (int stage : keepers_) {
    costs_.kept[static_cast<std::size_t>(stage)] += v.bytes;
    kept_[static_cast<std::size_t>(stage)] = false;
  }
  keepers_.clear();
}

void CutCosts::need_at(int position) {
  const int devices = shape_.stage_of(position);
  int& first = first_[static_cast<std::size_t>(devices)];
  if (first < 0) needed_.push_back(devices);
  if (first < 0 || position < first) first = position;
}

void CutCosts::keep(int stage) {
  if (kept_[static_cast<std::size_t>(stage)]) return;
  kept_[static_cast<std::size_t>(stage)] = true;
  keepers_.push_back(stage);
}

void CutCosts::send(int from, int to, std::int64_t bytes) {
  const std::size_t edge =
      static_cast<std::size_t>(from) * positions_ + static_cast<std::size_t>(to);
  if (sent_[edge] == 0) edges_.push_back(edge);
  // Nothing is a message too.
  sent_[edge] += bytes + (sent_[edge] == 0 ? 1 : 0);
}

void CutCosts::add_transfers() {
  std::ranges::sort(edges_);
  for (std::size_t edge : edges_) {
    const int from = static_cast<int>(edge / positions_), to = static_cast<int>(edge % positions_);
    const bool stays = shape_.stage_of(from) == shape_.stage_of(to);
    costs_.transfers.push_back({from, to, stays ? 0 : seconds_for(sent_[edge] - 1)});
    sent_[edge] = 0;
  }
  edges_.clear();
}

void CutCosts::add_shared(const Shared& one) {
  int first = shape_.virtual_stages();
  for (int user : one.users) {
    first = std::min(first, stage_of(user));
    need_at(stage_of(user) % shape_.stages);
  }
  const auto owner = static_cast<std::size_t>(first % shape_.stages);
  costs_.resident[owner] += one.bytes;
  costs_.once[owner] += one.update;
  for (int devices : needed_) {
    const auto other = static_cast<std::size_t>(devices);
    first_[other] = -1;
    if (other == owner) continue;
    costs_.resident[other] += one.shared_bytes;
    // It comes before the step, and its gradient goes back after it.
    costs_.once[owner] += one.travels;
    costs_.once[other] += one.travels;
  }
  needed_.clear();
}

PipelineCosts costs_of(const CutProblem& problem, const Stages& stages) {
  return CutCosts(problem).of(stages);
}

}  // namespace heddle::pipeline
