// Units: a graph cut into patterns and single vertices that can run one after the other, and stay
// so while units become one. Keeps an order in which they can run, so that most questions need a
// look at few units only.
#pragma once

#include <map>

#include "stitch/graph.h"

namespace heddle {

using UnitId = std::uint32_t;

class Units {
 public:
  // Disjoint patterns; all other vertices are units of their own. Patterns that wait for one
  // another are taken apart until none does.
  Units(const Graph& graph, std::vector<Pattern> patterns);

  std::size_t size() const { return units_.size(); }
  const Pattern& operator[](UnitId u) const { return units_[u]; }  // empty: part of another now
  UnitId of(Vertex v) const { return unit_of_[v]; }

  // Whether two units can be one: no path leads from one through others to the other, as far as
  // that is seen within a few hundred units.
  bool can_join(UnitId a, UnitId b);
  // b becomes part of a. The last thing that was asked has to be whether they can.
  void join(UnitId a, UnitId b);
  // A vertex whose users, or whose producers, are all in `to` becomes part of it.
  void move(Vertex v, UnitId to);

  std::vector<Pattern> take() && { return std::move(units_); }

 private:
  using Label = std::int64_t;  // ascending in an order in which units can run

  void number_units();
  void take_one_apart(std::vector<UnitId>& ready);
  void finish(UnitId u, std::vector<UnitId>& ready);
  bool walk(std::vector<UnitId>& open, std::vector<UnitId>& seen, bool down, UnitId target);
  void relabel();
  void place(const std::vector<UnitId>& units, Label after, Label before);

  const Graph& graph_;
  std::vector<Pattern> units_;
  std::vector<UnitId> unit_of_;
  std::vector<Label> label_;
  std::map<Label, UnitId> order_;

  // ---- of the question at hand
  std::vector<std::uint32_t> waits_;  // edges that a unit waits for, while they are numbered
  std::vector<std::uint32_t> below_, above_;
  std::uint32_t question_ = 0;
  UnitId low_ = kNone, high_ = kNone;
  bool went_down_ = false;
  std::vector<UnitId> between_;  // below low_, or above high_, as went_down_ says
};

}  // namespace heddle
