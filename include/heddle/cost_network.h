// A cost-function network: variables that take one of their values each, costs of values and of
// pairs of values, and memory that values take while they are alive. All figures are whole, so that
// a cost is exact.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "heddle/error.h"

namespace heddle {

class CostNetwork {
 public:
  using Cost = std::int64_t;
  // The cost of what may not be.
  static constexpr Cost kForbidden = std::numeric_limits<Cost>::max();
  // No other cost is larger; what contests call infinite is above it.
  static constexpr Cost kMostCost = 1'000'000'000'000'000;
  static constexpr std::int64_t kMostUsage = std::int64_t{1} << 50;
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  // From `begin` until just before `end`.
  struct Lifetime {
    std::int64_t begin = 0, end = 0;
    bool operator==(const Lifetime&) const = default;
  };
  // What a variable takes in a lifetime, by its value.
  struct Usage {
    int variable = 0;
    Lifetime life;
    std::vector<std::int64_t> amounts;
  };
  // What two variables cost together; `table` names its costs, row by row of the first one's
  // values.
  struct Edge {
    int first = 0, second = 0;
    int table = 0;
  };

  // A variable with a cost for each of its values. Returns its number.
  int add_variable(std::span<const Cost> costs);
  // What the variable takes in `life`, for each of its values; may be said for several lifetimes.
  void add_usage(int variable, Lifetime life, std::span<const std::int64_t> amounts);
  // Costs of pairs: as many rows as `first` has values, as many columns as `second` has.
  void add_edge(int first, int second, std::span<const Cost> table);
  // At no time may more be taken than this.
  void set_limit(std::int64_t limit);

  int variables() const { return static_cast<int>(starts_.size()) - 1; }
  int values(int variable) const { return starts_[variable + 1] - starts_[variable]; }
  std::span<const Cost> costs(int variable) const {
    return std::span(costs_).subspan(starts_[variable], values(variable));
  }
  const std::vector<Edge>& edges() const { return edges_; }
  // Equal tables are kept once.
  std::span<const Cost> table(int number) const { return tables_[number]; }
  int tables() const { return static_cast<int>(tables_.size()); }
  const std::vector<Usage>& usages() const { return usages_; }
  std::int64_t limit() const { return limit_; }

  // What an assignment of a value to every variable costs; kForbidden where a part of it is.
  Cost cost_of(std::span<const int> values) const;
  // The most that it takes at any time.
  std::int64_t peak_of(std::span<const int> values) const;
  // Whether an assignment has a value for every variable, nothing forbidden, and fits the limit.
  Verdict check(std::span<const int> values) const;

 private:
  void require_variable(int variable, const char* what) const;

  std::vector<int> starts_ = {0};
  std::vector<Cost> costs_;
  std::vector<Edge> edges_;
  std::vector<std::vector<Cost>> tables_;
  std::unordered_multimap<std::uint64_t, int> known_;  // by the hash of the content
  std::vector<Usage> usages_;
  std::int64_t limit_ = kNoLimit;
};

}  // namespace heddle
