// Branch and bound: fixes variables one by one until what is left can be eliminated. Proves that
// nothing is cheaper, where there is time enough.
#pragma once

#include <functional>

#include "parallel/solver/block.h"
#include "parallel/solver/trws.h"

namespace heddle::solver {

class Branch {
 public:
  Branch(const Core& core, double most_table);

  enum class End { proved, out_of_work, stopped };
  // Looks for assignments below `cost`, the one that is known; the first bounds are at these
  // prices.
  End run(double cost, const std::vector<double>& prices, double work,
          const std::function<bool()>& stop);
  // The best that was found; empty: none that is better.
  const std::vector<int>& best() const { return best_; }
  double best_cost() const { return best_cost_; }

 private:
  bool is_over();
  double bound_of(const std::vector<double>& plain, Trws& trws);
  void enter(const std::vector<double>& plain, Trws& trws);
  void take(const std::vector<int>& chosen);
  int first_left(const Block& block, const std::vector<int>& open) const;
  bool finish(const std::vector<double>& plain, Block& block, std::vector<int> chosen);
  void split(const std::vector<double>& plain, const Trws& trws, int v);

  const Core& core_;
  const double most_table_;
  std::vector<int> best_;
  double best_cost_ = kInfinite;
  std::vector<double> prices_;
  std::vector<double> priced_;  // what memory adds to each value
  std::vector<int> all_;
  Places places_;
  double pass_work_ = 0, work_left_ = 0;
  double worth_ = 0;  // of all room
  bool incomplete_ = false;
  const std::function<bool()>* stop_ = nullptr;
  bool stopped_ = false;
};

}  // namespace heddle::solver
