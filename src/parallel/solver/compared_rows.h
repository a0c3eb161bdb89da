// What the values of one variable cost with those of each neighbour, laid out to be compared.
#pragma once

#include <span>
#include <vector>

#include "parallel/solver/model.h"

namespace heddle::solver {

class ComparedRows {
 public:
  explicit ComparedRows(int values) : values_(static_cast<std::size_t>(values)) {}

  // The neighbour's costs with each value, row by row.
  void add_neighbour(std::size_t width, std::vector<Cost> rows);
  // Whether `other`, which costs so much more by itself, never costs more than `value` does,
  // whatever the neighbours are.
  bool is_worse(int value, int other, Cost own_more) const;

 private:
  // Of one value with one neighbour; what is forbidden apart.
  struct Range {
    Cost least, most;
  };
  struct Neighbour {
    std::size_t width;
    bool complete;  // nothing is forbidden
    std::vector<Cost> rows;
    std::vector<Range> ranges;  // by value
    std::span<const Cost> row(int value) const {
      return std::span(rows).subspan(static_cast<std::size_t>(value) * width, width);
    }
    // At least so much more `other` may cost than `value`.
    Cost least_more(int value, int other) const;
  };

  std::size_t values_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace heddle::solver
