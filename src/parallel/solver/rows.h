// The innermost loops: sums and least numbers of rows, as wide as the machine is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::solver {

// A row that moves on by `stride` numbers.
struct Run {
  const double* from = nullptr;
  std::size_t stride = 0;
};

// row[i] += from[i]
void add_to(double* row, const double* from, int count);
// least[i] = min(least[i], from[i] + plus)
void lower_to(double* least, const double* from, double plus, int count);
void lower_to(double* least, const float* from, double plus, int count);
// For each of `rows` places: the least of base plus all runs, and where it is first met.
void least_rows(const double* base, int count, const Run* runs, int run_count, int rows,
                double* least, std::uint16_t* best);
// The most of from[i] - less[i]; where that is above `enough`, any number that is.
std::int64_t most_above(const std::int64_t* from, const std::int64_t* less, std::size_t count,
                        std::int64_t enough);

}  // namespace heddle::solver
