// Looks for good assignments: solves one part of a core after the other exactly while the rest
// stays.
#pragma once

#include <optional>

#include "parallel/solver/block.h"

namespace heddle::solver {

// An assignment with what it costs and takes.
struct State {
  std::vector<int> chosen;
  double cost = kInfinite;
  std::vector<std::int64_t> taken;
};

class Search {
 public:
  Search(const Core& core, std::uint64_t seed);

  // Goes on from here.
  void start(std::vector<int> chosen);
  // What memory is worth at each time, as far as is known.
  void set_prices(const std::vector<double>& prices);
  // One part. Returns the work that it took, in entries of tables.
  double step();
  // The best so far that is allowed and fits.
  const State& best() const { return best_; }
  bool has_best() const { return best_.cost < kInfinite; }
  const State& current() const { return now_; }

 private:
  std::vector<int> cluster(int size, int seeds);
  // How far the assignment is above the room, as a share of it, over all times.
  double overflow(const std::vector<std::int64_t>& taken) const;
  Block next_block();
  void price(const Block& block, double scale);
  void try_block(Block& block, double scale);
  double step_at_prices(Block& block);
  double step_inside(Block& block);
  bool search_block(Block& block, double scale, double before);
  void add_noise(const Block& block, double most);
  void use_prices(const std::vector<double>& prices);
  double cost_around(const std::vector<int>& variables, const std::vector<int>& chosen);
  void keep_best();
  void next_cycle();
  void start_again();
  void raise_prices();

  const Core& core_;
  Random random_;
  State now_, best_, trial_;
  double now_overflow_ = 0;
  std::vector<double> prices_, dual_prices_, priced_;  // of times; of values
  std::vector<double> costs_;                          // of values of the block at hand
  std::vector<double> noise_;
  std::vector<char> marked_;
  Places places_;
  // How much worse than the best the assignment may become: less and less in a cycle of steps.
  double allowance_ = 0;
  double heat_ = 0;  // of the cycle: the first allowance as a share of the cost
  int cycle_ = 0, step_ = 0;
  double run_cost_ = kInfinite;  // at the begin of the last cycle
  std::vector<int> first_;       // where it all began
  long tries_ = 0;               // of the last search in a block
  double covered_ = 0;           // variables, since prices rose
};

}  // namespace heddle::solver
