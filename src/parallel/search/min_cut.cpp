#include "parallel/search/min_cut.h"

#include <algorithm>

namespace heddle::search {

namespace {
std::size_t place(int i) { return static_cast<std::size_t>(i); }
}  // namespace

void MinCut::add_edge(int from, int to, std::int64_t capacity) {
  edges_.push_back({to, first_[place(from)], capacity});
  first_[place(from)] = static_cast<int>(edges_.size()) - 1;
  edges_.push_back({from, first_[place(to)], 0});
  first_[place(to)] = static_cast<int>(edges_.size()) - 1;
}

bool MinCut::find_levels(int source, int sink) {
  level_.assign(first_.size(), -1);
  level_[place(source)] = 0;
  std::vector<int> open{source};
  for (std::size_t i = 0; i < open.size(); ++i)
    for (int e = first_[place(open[i])]; e >= 0; e = edges_[place(e)].next) {
      const Edge& edge = edges_[place(e)];
      if (edge.left == 0 || level_[place(edge.to)] >= 0) continue;
      level_[place(edge.to)] = level_[place(open[i])] + 1;
      open.push_back(edge.to);
    }
  return level_[place(sink)] >= 0;
}

// One path along rising levels, without recursion; 0 where there is none left.
std::int64_t MinCut::push(int source, int sink) {
  std::vector<int> path;  // edges
  int node = source;
  while (node != sink) {
    int& e = at_[place(node)];
    while (e >= 0) {
      const Edge& edge = edges_[place(e)];
      if (edge.left > 0 && level_[place(edge.to)] == level_[place(node)] + 1) break;
      e = edge.next;
    }
    if (e >= 0) {
      path.push_back(e);
      node = edges_[place(e)].to;
      continue;
    }
    if (path.empty()) return 0;
    node = edges_[place(path.back() ^ 1)].to;  // a dead end
    at_[place(node)] = edges_[place(path.back())].next;
    path.pop_back();
  }
  std::int64_t least = kNever;
  for (int e : path) least = std::min(least, edges_[place(e)].left);
  for (int e : path) {
    edges_[place(e)].left -= least;
    edges_[place(e ^ 1)].left += least;
  }
  return least;
}

std::vector<bool> MinCut::source_side(int source, int sink) {
  while (find_levels(source, sink)) {
    at_ = first_;
    while (push(source, sink) > 0) {
    }
  }
  std::vector<bool> side;
  for (int level : level_) side.push_back(level >= 0);
  return side;
}

}  // namespace heddle::search
