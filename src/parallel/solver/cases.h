// A bound by cases. Prices let a network take a little of two assignments at once, one that is
// cheap and too large and one that is small: where a few variables take much of the memory no
// assignment is like that. In one case such a variable takes little, in the other one it takes much
// and leaves less to all others.
#pragma once

#include <functional>
#include <memory>

#include "parallel/solver/dual.h"

namespace heddle::solver {

class Cases {
 public:
  // Of all assignments that fit, as far as `dual` has come with them.
  Cases(const Core& core, const Dual& dual);

  // Splits the case with the least bound until all are at least `1 - gap` of the best cost known,
  // or so much work is done, nothing comes of it, or somebody wants it to stop. `cost` is what
  // others have found.
  void run(double cost, double gap, double work, const std::function<bool()>& stop);
  // No assignment that fits costs less, unless it is the best one that is known.
  double bound() const;
  // The best that cases found likely and that fits; empty where others know a better one.
  const std::vector<int>& best() const { return best_; }
  double best_cost() const { return best_cost_; }

 private:
  struct Case {
    std::vector<char> closed;  // values that are not to be taken; indexed as all values
    std::unique_ptr<Dual> dual;
    double bound() const { return dual->bound(); }
  };
  // The values of a variable whose memory is worth at most so much, and the others.
  struct Cut {
    int variable = -1;
    double most = 0;
  };

  std::size_t least() const;
  void split(const Case& whole, const Cut& cut);
  Cut cut_of(const Case& one) const;
  std::vector<double> worth_of(const Dual& dual, int v) const;
  void enter(Case one);
  void note(std::vector<int> chosen);
  bool leaves_room(const std::vector<int>& chosen) const;

  const Core& core_;
  std::vector<Case> open_;
  double unsplit_ = kInfinite;  // the least bound of cases that nothing splits any further
  std::vector<int> best_;
  double best_cost_ = kInfinite;
  double gap_ = 0, work_left_ = 0;
  const std::function<bool()>* stop_ = nullptr;
};

}  // namespace heddle::solver
