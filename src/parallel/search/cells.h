// A function as the search sees it: cells, of which each takes one of its ways, what they bring
// each other, and how long their values are there.
#pragma once

#include <functional>

#include "parallel/search/strategies.h"

namespace heddle::search {

struct Cell {
  enum class Kind : std::uint8_t {
    argument,
    op,
    carried,  // by a loop, or what a branch gives
    rest,     // where a value lies for several users, of which none waits for a sum of its own
  } kind = Kind::op;
  OpId op = kNone;
  ValueId value = kNone;                     // of all but ops
  const Strategies* strategies = nullptr;    // of ops
  int list = -1;                             // of the others: their splits
  double times = 1;                          // that it is computed in one run
  std::vector<CostNetwork::Cost> more = {};  // beside the strategies' costs; none: nothing
};

// What one cell brings another.
struct Bring {
  int from = 0, to = 0;
  int from_list = 0, to_list = 0;
  TypeId type = 0;
  double times = 1;
  // Work stands between where the value is made and where it is used, of which so much is left to
  // this move: it costs what it takes longer.
  CostNetwork::Cost hidden = 0;
  std::int64_t made = 0, used = 0;  // times
  bool may_be_sum = false;
  ValueId value = kNone;
};
CostNetwork::Cost exposed(CostNetwork::Cost move, const Bring& bring);

// Memory that a value takes from one op to another.
struct Held {
  int cell = 0;
  int list = 0;
  TypeId type = 0;
  std::int64_t begin = 0, end = 0;
  ValueId value = kNone;  // of an op; kNone: arguments, and results that have a place of their own
};

struct Cells {
  std::vector<Cell> cells;
  std::vector<Bring> brings;
  std::vector<Held> held;
  std::vector<int> of_op;                 // by OpId; -1: none
  std::vector<std::pair<int, int>> lies;  // by ValueId: cell and list that say how; -1: none
  std::vector<int> arguments;             // cells
  std::int64_t ops = 0;                   // that time is counted in
};

// The splits of arguments and results that somebody wants; -1: not said.
struct Wanted {
  std::vector<int> arguments, results;
  std::vector<Carried> carried;
  std::vector<double> times = {}, argument_times = {};  // as in SearchOptions
  // By argument: in how many parts its rows lie on stages of their own, so that devices share none
  // of them; 0: in none. Empty: there are no stages.
  std::vector<double> row_parts = {};
};

// Bytes that are held at each time, where a value takes what `bytes` says of it.
std::vector<std::int64_t> held_over_time(const Cells& cells,
                                         const std::function<std::int64_t(const Held&)>& bytes);

// How many ways a cell has.
std::size_t ways_of(const Cell& cell, const SplitLists& lists);

Expected<Cells> cells_of(OnMesh& on, SplitLists& lists, StrategyTable& table,
                         const Function& function, const Wanted& wanted);

}  // namespace heddle::search
