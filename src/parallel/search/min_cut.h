// The cheapest cut of a graph between a source and a sink.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::search {

class MinCut {
 public:
  static constexpr std::int64_t kNever = INT64_MAX / 4;  // an edge that no cut goes through

  explicit MinCut(int nodes) : first_(static_cast<std::size_t>(nodes), -1) {}

  void add_edge(int from, int to, std::int64_t capacity);
  // Which nodes are on the source's side; of all cheapest cuts the one with the fewest of them.
  std::vector<bool> source_side(int source, int sink);

 private:
  struct Edge {
    int to, next;
    std::int64_t left;
  };
  bool find_levels(int source, int sink);
  std::int64_t push(int source, int sink);

  std::vector<int> first_;   // edge of each node
  std::vector<Edge> edges_;  // each with its reverse behind it
  std::vector<int> level_, at_;
};

}  // namespace heddle::search
