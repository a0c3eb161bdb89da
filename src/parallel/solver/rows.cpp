#include "parallel/solver/rows.h"

#include <algorithm>
#include <limits>

#include "base/wide_vectors.h"

namespace heddle::solver {
namespace {

const bool kHasWide = has_wide_vectors();

HEDDLE_INLINE void add_body(double* __restrict row, const double* __restrict from, int count) {
  for (int i = 0; i < count; ++i) row[i] += from[i];
}

template <typename Number>
HEDDLE_INLINE void lower_body(double* __restrict least, const Number* __restrict from, double plus,
                              int count) {
  for (int i = 0; i < count; ++i) {
    const double sum = static_cast<double>(from[i]) + plus;
    least[i] = sum < least[i] ? sum : least[i];
  }
}

constexpr int kWidth = 128;  // numbers that are summed up at a time

HEDDLE_INLINE void rows_body(const double* base, int count, const Run* runs, int run_count,
                             int rows, double* least, std::uint16_t* best) {
  double sums[kWidth];
  for (int r = 0; r < rows; ++r) {
    double found = 0;
    int where = -1;
    for (int begin = 0; begin < count; begin += kWidth) {
      const int width = std::min(kWidth, count - begin);
      for (int i = 0; i < width; ++i) sums[i] = base[begin + i];
      for (int f = 0; f < run_count; ++f) {
        const double* const from = runs[f].from + runs[f].stride * r + begin;
        for (int i = 0; i < width; ++i) sums[i] += from[i];
      }
      double low = sums[0];
      for (int i = 1; i < width; ++i) low = sums[i] < low ? sums[i] : low;
      if (where >= 0 && found <= low) continue;
      found = low;
      int at = 0;
      while (sums[at] != low) ++at;
      where = begin + at;
    }
    least[r] = found;
    best[r] = static_cast<std::uint16_t>(where);
  }
}

HEDDLE_INLINE std::int64_t most_body(const std::int64_t* from, const std::int64_t* less,
                                     std::size_t count, std::int64_t enough) {
  constexpr std::size_t kPart = 32;  // after which it looks whether it may end
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  for (std::size_t begin = 0; begin < count && most <= enough; begin += kPart) {
    const std::size_t end = std::min(begin + kPart, count);
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t more = from[i] - less[i];
      most = more > most ? more : most;
    }
  }
  return most;
}

HEDDLE_WIDE void add_wide(double* row, const double* from, int count) {
  add_body(row, from, count);
}
HEDDLE_WIDE void lower_wide(double* least, const double* from, double plus, int count) {
  lower_body(least, from, plus, count);
}
HEDDLE_WIDE void lower_wide(double* least, const float* from, double plus, int count) {
  lower_body(least, from, plus, count);
}
HEDDLE_WIDE void rows_wide(const double* base, int count, const Run* runs, int run_count, int rows,
                           double* least, std::uint16_t* best) {
  rows_body(base, count, runs, run_count, rows, least, best);
}

HEDDLE_WIDE std::int64_t most_wide(const std::int64_t* from, const std::int64_t* less,
                                   std::size_t count, std::int64_t enough) {
  return most_body(from, less, count, enough);
}

}  // namespace

void add_to(double* row, const double* from, int count) {
  if (kHasWide) return add_wide(row, from, count);
  add_body(row, from, count);
}

void lower_to(double* least, const double* from, double plus, int count) {
  if (kHasWide) return lower_wide(least, from, plus, count);
  lower_body(least, from, plus, count);
}

void lower_to(double* least, const float* from, double plus, int count) {
  if (kHasWide) return lower_wide(least, from, plus, count);
  lower_body(least, from, plus, count);
}

void least_rows(const double* base, int count, const Run* runs, int run_count, int rows,
                double* least, std::uint16_t* best) {
  if (kHasWide) return rows_wide(base, count, runs, run_count, rows, least, best);
  rows_body(base, count, runs, run_count, rows, least, best);
}

std::int64_t most_above(const std::int64_t* from, const std::int64_t* less, std::size_t count,
                        std::int64_t enough) {
  if (kHasWide) return most_wide(from, less, count, enough);
  return most_body(from, less, count, enough);
}

}  // namespace heddle::solver
