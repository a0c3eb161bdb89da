// Lists of splits, and what it takes to get from each of one list to each of another.
#pragma once

#include <map>

#include "parallel/search/move_costs.h"

namespace heddle::search {

// The same split with its sums made.
int complete_split(OnMesh& on, int split);

class SplitLists {
 public:
  explicit SplitLists(OnMesh& on) : on_(on), costs_(on) {}

  // Equal lists have equal numbers.
  int id(std::vector<int> splits);
  const std::vector<int>& operator[](int id) const { return lists_[static_cast<std::size_t>(id)]; }

  // What a device has of a value of this type, for each split of a list.
  const std::vector<std::int64_t>& bytes(int list, TypeId type);
  // Costs of moves, row by row of `from`.
  const std::vector<CostNetwork::Cost>& moves(int from, int to, TypeId type);

 private:
  // The splits of a list without those that come again, and which of them each one is.
  struct Distinct {
    std::vector<int> splits, places;
  };
  const Distinct& distinct(int list);

  OnMesh& on_;
  std::vector<std::vector<int>> lists_;
  std::map<std::vector<int>, int> ids_;
  std::map<int, Distinct> distinct_;
  std::map<std::pair<int, TypeId>, std::vector<std::int64_t>> bytes_;
  MoveCosts costs_;
  std::map<std::tuple<int, int, TypeId>, std::vector<CostNetwork::Cost>> moves_;
};

}  // namespace heddle::search
