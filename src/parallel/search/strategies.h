// Every way in which the devices of a mesh may share an op.
#pragma once

#include "parallel/price.h"
#include "parallel/search/split_lists.h"

namespace heddle::search {

// Of one op, and of all that are like it. Operands and results are lists with a split per way.
struct Strategies {
  int number = 0;  // equal for ops that share them
  std::vector<ChosenFactors> ways;
  std::vector<CostNetwork::Cost> costs;  // without bringing the operands
  std::vector<int> operands, results;    // lists; -1 for what is no tensor
};

// What beside its types and attributes says which ways an op has.
struct OpPlace {
  std::uint64_t pending = 0;  // operands that may be sums that are still to be made, by bits
  Stitched stitched = 0;
};

class StrategyTable {
 public:
  StrategyTable(OnMesh& on, SplitLists& lists) : on_(on), lists_(lists) {}

  const Strategies& of(OpId op, const OpPlace& place);
  // With this split of its one result, or as a whole.
  const Strategies& fixed(OpId op, int split);
  const Strategies& whole(OpId op);

 private:
  struct Known {
    OpId op;
    OpPlace place;
    std::unique_ptr<Strategies> strategies;
  };
  std::unique_ptr<Strategies> made(OpId op, const OpPlace& place);
  bool alike(OpId a, OpId b) const;
  std::uint64_t key_of(OpId op, const OpPlace& place) const;

  OnMesh& on_;
  SplitLists& lists_;
  std::unordered_multimap<std::uint64_t, Known> known_;
  std::map<std::pair<std::vector<int>, std::vector<int>>, std::unique_ptr<Strategies>> fixed_;
  int count_ = 0;
};

// Splits of a value in blocks: each axis of the mesh along one dimension, or along none. Blocks are
// even.
std::vector<int> block_splits(OnMesh& on, const Type& type);

}  // namespace heddle::search
