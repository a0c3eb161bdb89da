// A part of a core that is solved exactly while all else stays: variables are eliminated one by
// one.
#pragma once

#include "parallel/solver/core.h"
#include "parallel/solver/places.h"
#include "parallel/solver/random.h"
#include "parallel/solver/rows.h"

namespace heddle::solver {

class Block {
 public:
  // As many of these variables as tables of `most_table` entries allow; which ones is up to chance.
  Block(const Core& core, std::span<const int> candidates, double most_table, Random& random,
        Places& places);

  // The variables that it chooses, in the order in which they are eliminated.
  const std::vector<int>& variables() const { return order_; }
  // Entries of all tables.
  double work() const { return work_; }
  // Sets their values in `chosen` to the best ones for these costs of values. Returns what all that
  // has to do with these variables costs then.
  double solve(const std::vector<double>& costs, std::vector<int>& chosen);

  // A search among the assignments of the block, after `solve` with the same costs. It goes by how
  // much more than the best one they cost.
  struct Limits {
    // What costs hold for memory at each time, and what the block may take there.
    const std::vector<double>& prices;
    std::vector<std::int64_t> room;
    double cost = 0;  // without memory's price; a better one is looked for
    long nodes = 0;   // values that may be tried
  };
  // Sets the values in `chosen` to the cheapest assignment that fits and is below the limit. False:
  // none was found. `limits.nodes` is what is left; where that is not 0 there is none, or it is the
  // best.
  bool search(const std::vector<double>& costs, Limits& limits, std::vector<int>& chosen);

 private:
  struct Factor {
    const double* table = nullptr;     // of two variables; else:
    int bucket = -1;                   // what an earlier bucket left
    std::vector<std::size_t> strides;  // for each variable of the scope
  };
  // One variable's elimination. The one of the scope that is eliminated next comes last.
  struct Bucket {
    int variable = 0;
    std::vector<int> scope;
    std::vector<int> sizes;
    std::vector<Factor> factors;
    std::vector<const Core::Neighbour*> fixed;  // those that stay
    std::size_t entries = 1;
    std::vector<double> least;
    std::vector<std::uint16_t> best;
  };

  struct Dive;

  void dive(Dive& dive, std::size_t left, double value);
  void row_of(const Bucket& bucket, const std::vector<double>& costs,
              const std::vector<int>& chosen, std::vector<double>& row) const;
  void link(const Places& places);
  void fill(Bucket& bucket, const double* costs);
  void fill_run(Bucket& bucket, std::size_t entry, const std::vector<const double*>& at);
  void own_costs(const Bucket& bucket, const std::vector<double>& costs,
                 const std::vector<int>& chosen);

  const Core& core_;
  std::vector<int> order_;
  std::vector<Bucket> buckets_;
  std::vector<double> own_, base_;
  std::vector<const double*> at_;
  std::vector<int> index_;
  std::vector<Run> runs_;
  double work_ = 0;
};

}  // namespace heddle::solver
