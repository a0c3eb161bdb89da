// How often loops run, where their text says so.
#include <gtest/gtest.h>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "ir/trips.h"

namespace heddle::trips_tests {
namespace {

const Type kNumber = Type::tensor(DType::i32, {});

// Counts from `begin` while below `end`, by `step`.
Program counting(double begin, double end, double step, bool carries_end = false,
                 bool moves_end = false) {
  Builder b;
  b.function("main", {}, [&](const Vars&) -> Vars {
    Vars start = {b.full(kNumber, begin), b.full(kNumber, end)};
    return {b.while_loop(
        start,
        [&](const Vars& in) {
          return b.compare("LT", in[0], carries_end ? in[1] : b.full(kNumber, end));
        },
        [&](const Vars& in) -> Vars { return {in[0] + step, moves_end ? in[1] + 1 : in[1]}; })[0]};
  });
  return b.finish().value();
}

std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>> trips(const Program& program) {
  for (OpId id : program.region(program.functions[0].body).ops)
    if (program.op(id).def->control == Control::loop)
      return {trips_of(program, program.op(id)), exact_trips_of(program, program.op(id))};
  return {};
}

TEST(Trips, CountedByOnes) {
  EXPECT_EQ(trips(counting(0, 7, 1)), std::pair(std::optional(7L), std::optional(7L)));
  EXPECT_EQ(trips(counting(2, 7, 1, true)), std::pair(std::optional(5L), std::optional(5L)));
}

TEST(Trips, NoneAtAll) { EXPECT_EQ(trips(counting(9, 7, 1)).second, 0); }

TEST(Trips, OtherStepsLeaveADoubt) {
  EXPECT_EQ(trips(counting(0, 7, 2)).second, std::nullopt);
  EXPECT_EQ(trips(counting(0, 7, -1)).second, std::nullopt);
  EXPECT_EQ(trips(counting(0, 7, 1, true, true)).second, std::nullopt);
}

}  // namespace
}  // namespace heddle::trips_tests
