// The ops of a region as a graph of vertices, for fusion.
#pragma once

#include <utility>
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
  std::vector<std::uint32_t> depth;         // ops on the longest way to it
  // Of the schedule: it grows where a collective begins that work runs beside, and where that is
  // waited for. Nothing runs in an earlier stretch than the ops that it is made of.
  std::vector<std::uint32_t> stretch;

  std::size_t size() const { return ops.size(); }
  const Op& op(Vertex v) const { return program->op(ops[v]); }

  // Marks for one walk at a time: a new walk makes all old marks void.
  struct Marks {
    std::vector<std::uint32_t> by_vertex;
    std::uint32_t walk = 0;
    void begin(std::size_t size) {
      by_vertex.resize(size, 0);
      ++walk;
    }
    bool has(Vertex v) const { return by_vertex[v] == walk; }
    bool set(Vertex v) { return std::exchange(by_vertex[v], walk) != walk; }  // false: it was
  };
  mutable Marks inside, below, above;  // of is_convex
};

Graph make_graph(const Program& program, RegionId region, const DeviceCalls* calls,
                 const FoldedMoves& moves = {});

// A set of vertices, ascending.
using Pattern = std::vector<Vertex>;
inline constexpr std::size_t kMostOps = 160;      // of a kernel, while kernels are searched for
inline constexpr std::size_t kMostJoined = 2048;  // of a kernel that whole kernels become

// Whether no path leaves the pattern and comes back, so that it can run as one.
bool is_convex(const Graph& graph, const Pattern& pattern);

Pattern union_of(const Pattern& a, const Pattern& b);

}  // namespace heddle
