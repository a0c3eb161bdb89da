// Collectives that do not wait for one another are one.
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

// Updates of weights, each of which follows its gradient at once: all gradients travel together.
TEST(Combine, GradientsOfManyWeightsAreOneAllReduce) {
  Builder b("descent");
  const Type x = f32({16, 8}), w = f32({8, 8});
  b.function("main", {x, x, w, w, w}, [&](const Vars& in) -> Vars {
    Vars moved;
    for (std::size_t i = 2; i < 5; ++i) {
      const Var y = in[1] * static_cast<double>(i);
      const Var gradient = b.dot(in[0], y, DotDims{{}, {}, {0}, {0}});
      moved.push_back(in[i] - gradient * 0.125);
    }
    return moved;
  });
  const Program program = b.finish().value();
  const Spmd spmd = on_mesh(program, {{"dp", 4}},
                            {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}),
                             result(0, {{}, {}}), result(1, {{}, {}}), result(2, {{}, {}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over dp", 3}}));
  EXPECT_EQ(collectives_of(spmd.program, local_function(spmd)), 1);
  // Partitioning alone leaves each where it is needed.
  Program laid_out = program;
  (void)laid_out.add_mesh("mesh", {{"dp", 4}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}), result(0, {{}, {}}),
                   result(1, {{}, {}}), result(2, {{}, {}})};
  const Spmd apart = partition(laid_out, options).value();
  EXPECT_EQ(collectives_of(apart.program, local_function(apart)), 3);
  // And so do collectives that are too large to be one.
  ScheduleOptions small;
  small.combine_bytes = 8 * 8 * 4;
  const Program limited = schedule(apart.program, small);
  EXPECT_EQ(collectives_of(limited, limited.functions[0]), 3);
  EXPECT_LT(difference(program, spmd), 1e-3);
}

}  // namespace
}  // namespace heddle::test
