// What kernels make for themselves.
#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "heddle/stitch.h"

namespace heddle::copies_tests {
namespace {

constexpr std::int64_t kElements = 1 << 20;

bool is_written(const Program& program, const StitchPlan& plan, std::string_view op) {
  for (const StitchUnit& unit : plan.units)
    for (const StitchGroup& group : unit.kernels)
      for (ValueId v : group.outputs)
        if (program.op(program.value(v).op).def->short_name() == op) return true;
  return false;
}

// A kernel has to have summed over all elements before the next one begins. Both want to know where
// x is positive, which the second one sees by itself, as it reads x; and it repeats the sum.
TEST(Copies, NeitherChoicesNorRepeatedSumsAreWritten) {
  for (const bool reads_x : {true, false}) {
    Builder b;
    const Type type = Type::tensor(DType::f64, {kElements});
    b.function("main", {type, type}, [&](const Vars& in) -> Vars {
      const Var zeros = b.full(type, 0);
      const Var positive = b.compare("GT", in[0], zeros);
      const Var chosen = b.select(positive, b.op("multiply", {in[0], in[1]}), zeros);
      const Var sum = b.broadcast(b.reduce(chosen, {0}, "add"), {kElements});
      const Var more = b.op("add", {reads_x ? in[0] : in[1], sum});
      const Var first = b.select(positive, more, zeros);
      return {first,
              b.reduce(b.op("multiply", {first, b.op("subtract", {first, sum})}), {0}, "add")};
    });
    const Program program = b.finish().value();
    const auto plan = stitch(program, program.functions[0].body);
    ASSERT_TRUE(plan) << plan.reason();
    EXPECT_FALSE(is_written(program, *plan, "broadcast_in_dim"));
    EXPECT_EQ(is_written(program, *plan, "compare"), !reads_x);
  }
}

}  // namespace
}  // namespace heddle::copies_tests
