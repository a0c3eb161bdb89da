// A reduced model laid out for speed: costs as floating-point numbers, tables from both sides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/solver/model.h"

namespace heddle::solver {

// Stands for forbidden costs; sums of many are still finite.
inline constexpr double kInfinite = 1e30;

class Core {
 public:
  // Another variable, and the costs of pairs with it.
  struct Neighbour {
    int other = 0;
    const double* by_own = nullptr;    // a row for each own value
    const double* by_other = nullptr;  // a row for each value of the other one
  };
  struct Usage {
    int begin = 0, end = 0;
    const std::int64_t* amounts = nullptr;  // by value
  };

  explicit Core(const Model& model);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  int variables() const { return static_cast<int>(sizes_.size()); }
  int times() const { return static_cast<int>(room_.size()); }
  int values(int v) const { return sizes_[v]; }
  const std::vector<int>& sizes() const { return sizes_; }
  // Where the values of a variable begin in lists of all values.
  int start(int v) const { return starts_[v]; }
  int all_values() const { return starts_.back(); }
  const double* costs(int v) const { return costs_.data() + starts_[v]; }
  std::span<const Neighbour> around(int v) const {
    return {around_.data() + around_starts_[v], around_.data() + around_starts_[v + 1]};
  }
  std::span<const Usage> usages(int v) const {
    return {usages_.data() + usage_starts_[v], usages_.data() + usage_starts_[v + 1]};
  }
  const std::vector<std::int64_t>& room() const { return room_; }
  double constant() const { return constant_; }

  // The whole cost, kInfinite or more where it is forbidden; without the memory's.
  double cost_of(std::span<const int> chosen) const;
  std::vector<std::int64_t> taken_by(std::span<const int> chosen) const;

 private:
  std::vector<int> sizes_, starts_;
  std::vector<double> costs_;
  std::vector<double> tables_;
  std::vector<int> around_starts_, usage_starts_;
  std::vector<Neighbour> around_;
  std::vector<Usage> usages_;
  std::vector<std::int64_t> amounts_;
  std::vector<std::int64_t> room_;
  double constant_ = 0;
};

// What each value of each variable costs with memory at these prices; indexed as all values.
std::vector<double> priced_costs(const Core& core, const std::vector<double>& prices);

}  // namespace heddle::solver
