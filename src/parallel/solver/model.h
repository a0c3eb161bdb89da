// What the solver works on: a network whose times are few and whose constant parts are taken out.
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/cost_network.h"

namespace heddle::solver {

using Cost = CostNetwork::Cost;
inline constexpr Cost kForbidden = CostNetwork::kForbidden;

inline Cost add_costs(Cost a, Cost b) {
  return a == kForbidden || b == kForbidden ? kForbidden : a + b;
}

// What a variable takes from time `begin` until just before `end`, by its value.
struct Piece {
  int begin = 0, end = 0;
  std::vector<std::int64_t> amounts;
};

struct Variable {
  std::vector<Cost> costs;  // of values; kForbidden: not to be taken
  std::vector<Piece> pieces;
};

// Two variables, first < second, and the costs of their pairs: a row for each value of the first.
struct Pair {
  int first = 0, second = 0;
  std::vector<Cost> table;
};

struct Model {
  std::vector<Variable> variables;
  std::vector<Pair> pairs;  // no two of the same variables
  // What may be taken at each time, beyond what is always taken. Times are few: where others are
  // full so is one of them.
  std::vector<std::int64_t> room;
  Cost constant = 0;
};

// Numbers of times become few (see `room`); pieces that are the same for all values become less
// room. A reason where even the least of all values does not fit.
Verdict compress_times(Model& model);
// Forbids values that do not fit even where all others take nothing. The variables that had some.
std::vector<int> forbid_without_room(Model& model);
// Times that cannot be too full unless another one is go away.
void drop_dominated_times(Model& model);
// Only the times that are not marked stay.
void drop_times(Model& model, const std::vector<char>& dropped);

}  // namespace heddle::solver
