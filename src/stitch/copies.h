// What a kernel makes for itself rather than read it from another one.
#pragma once

#include "stitch/graph.h"

namespace heddle {

// A graph cut into patterns and single vertices.
struct Contracted {
  std::vector<std::size_t> unit_of;  // by vertex
  std::vector<Pattern> units;
};

// Vertices of which every kernel that needs them has a copy of its own, so that they are never
// written: repeated arguments, constants and single numbers, numbers of positions, and what follows
// by light ops from an argument that all who need it read anyway.
class Copies {
 public:
  Copies(const Graph& graph, const Contracted& contracted);

  // Those that a pattern reads and others make.
  Pattern needed_by(const Pattern& pattern) const;
  // Whether somebody needs it in memory.
  bool must_be_kept(Vertex v) const { return !is_free_[v]; }
  // Whether a copy in another kernel reads it.
  bool is_read_by_a_copy(Vertex v) const;

 private:
  bool is_repeated(Vertex v) const;
  ValueId argument_behind(Vertex v) const;
  bool is_read_anyway(Vertex v, ValueId argument) const;
  bool is_made_elsewhere(Vertex v) const;

  const Graph& graph_;
  const Contracted& contracted_;
  std::vector<bool> is_free_;
  std::vector<ValueId> behind_;  // the argument that it follows from; kNone: none
};

}  // namespace heddle
