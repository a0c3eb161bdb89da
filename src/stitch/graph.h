// The ops of a region as a graph of vertices, for fusion.
#pragma once

#include <vector>

#include "heddle/program.h"
#include "stitch/fold_moves.h"

namespace heddle {

using Vertex = std::uint32_t;  // its number is its place in the region's order of work

class Graph {
 public:
  const Program* program = nullptr;
  RegionId region = kNone;
  std::vector<OpId> ops;
  std::vector<std::vector<Vertex>> producers, consumers;  // each once, ascending
  std::vector<bool> stitchable;
  std::vector<bool> escapes;                // a result is used by the terminator
  std::vector<std::vector<ValueId>> reads;  // tensors from anywhere, each once

  std::size_t size() const { return ops.size(); }

  // Marks for one walk at a time: a new walk makes all old marks void.
  void begin_walk() const {
    marks_.resize(ops.size(), 0);
    ++walk_;
  }
  bool mark(Vertex v) const {  // false: it was marked already
    if (marks_[v] == walk_) return false;
    marks_[v] = walk_;
    return true;
  }
  const Op& op(Vertex v) const { return program->op(ops[v]); }

 private:
  mutable std::vector<std::uint32_t> marks_;
  mutable std::uint32_t walk_ = 0;
};

Graph make_graph(const Program& program, RegionId region, const FoldedMoves& moves = {});

// A set of vertices, ascending.
using Pattern = std::vector<Vertex>;

// Whether no path leaves the pattern and comes back, so that it can run as one.
bool is_convex(const Graph& graph, const Pattern& pattern);

Pattern union_of(const Pattern& a, const Pattern& b);

}  // namespace heddle
