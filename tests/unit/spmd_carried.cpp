// What a function carries from run to run lies alike at both ends, as what a loop carries does.
#include <gmock/gmock.h>

#include "spmd_mesh.h"

namespace heddle::test {
namespace {

// (w, x) -> (loss, w - x w): nothing says where the new w lies.
Program step() {
  Builder b("step");
  b.function("main", {f32({8, 4}), f32({8, 8})}, [&](const Vars& in) -> Vars {
    const Var d = b.dot(in[1], in[0]);
    return {b.reduce(d, {0, 1}, "add"), in[0] - d};
  });
  return b.finish().value();
}

Spmd carried(Program program, std::vector<Seed> seeds, std::vector<Carried> pairs) {
  (void)program.add_mesh("mesh", {{"x", 2}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = std::move(seeds);
  options.function = "main";
  options.carried = std::move(pairs);
  Spmd spmd = partition(program, options).value();
  EXPECT_TRUE(verify(spmd.program));
  EXPECT_LT(difference(program, spmd), 1e-4);
  return spmd;
}

TEST(Carried, TheResultLiesAsItsArgument) {
  for (const Axes& axes : {Axes{{"x"}, {}}, Axes{{}, {"x"}}, Axes{{}, {}}}) {
    const Spmd spmd = carried(step(), {argument(0, axes)}, {{0, 1}});
    EXPECT_EQ(spmd.functions[0].results[1], spmd.functions[0].arguments[0]);
    EXPECT_EQ(local_type(f32({8, 4}), spmd.functions[0].arguments[0]).shape,
              (Shape{axes[0].empty() ? 8 : 4, axes[1].empty() ? 4 : 2}));
  }
}

TEST(Carried, AWordOfTheResultIsOneOfTheArgument) {
  const Spmd spmd = carried(step(), {result(1, {{}, {"x"}})}, {{0, 1}});
  EXPECT_EQ(text_of(spmd.functions[0].arguments[0], spmd.program.meshes[0].mesh), R"([{}, {"x"}])");
  EXPECT_EQ(spmd.functions[0].results[1], spmd.functions[0].arguments[0]);
}

TEST(Carried, WhereBothAreSaidTheArgumentCounts) {
  const Spmd spmd = carried(step(), {argument(0, {{"x"}, {}}), result(1, {{}, {"x"}})}, {{0, 1}});
  EXPECT_EQ(text_of(spmd.functions[0].results[1], spmd.program.meshes[0].mesh), R"([{"x"}, {}])");
}

TEST(Carried, TypesHaveToBeEqual) {
  Program program = step();
  (void)program.add_mesh("mesh", {{"x", 2}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.function = "main";
  options.carried = {{1, 1}};
  EXPECT_EQ(partition(program, options).reason(),
            "result 1 of @main is tensor<8x4xf32>, and argument 1, to which it is carried, is "
            "tensor<8x8xf32>");
  options.carried = {{7, 1}};
  EXPECT_THAT(partition(program, options).reason(), testing::HasSubstr("argument 7"));
}

}  // namespace
}  // namespace heddle::test
