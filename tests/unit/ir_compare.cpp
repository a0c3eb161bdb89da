// Arrays that are nearly alike.
#include <gtest/gtest.h>

#include "heddle/compare.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

Comparison compared(C64 actual, C64 expected, double rtol, double atol) {
  return compare_arrays(make_array<C64>({1}, std::vector<C64>{actual}),
                        make_array<C64>({1}, std::vector<C64>{expected}),
                        {.rtol = rtol, .atol = atol});
}

// A part that is zero has nothing to be relative to.
TEST(Compare, ComplexNumbersByTheirDistance) {
  EXPECT_EQ(compared({1e-8F, 2e-8F}, {0, 1e-8F}, 1e-4, 1e-6).outside, 0);
  EXPECT_EQ(compared({5, 1e-7F}, {5, 0}, 1e-6, 0).outside, 0);
  EXPECT_EQ(compared({5, 1e-2F}, {5, 0}, 1e-6, 1e-6).outside, 1);
  EXPECT_EQ(compared({5, INFINITY}, {5, 0}, 1, 1).outside, 1);
  EXPECT_EQ(compared({NAN, 1}, {NAN, 1}, 0, 0).outside, 0);
}

}  // namespace
}  // namespace heddle
