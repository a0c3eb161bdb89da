// Ops along lines that are dealt out: what devices tell each other, counted.
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

// A cumulative op along one dimension, as JAX writes it.
Var cumulative(Builder& b, Var x, std::size_t dim, bool backward, std::string_view combiner,
               double start) {
  const std::size_t rank = x.type().rank();
  const std::int64_t n = x.type().shape[dim];
  Attr::Integers window(rank, 1);
  window[dim] = n;
  Array padding(Type::tensor(DType::i64, {static_cast<std::int64_t>(rank), 2}));
  padding.as_mutable<std::int64_t>()[2 * dim + (backward ? 1 : 0)] = n - 1;
  const Type scalar = Type::tensor(x.type().dtype, {});
  const RegionId body = b.region(
      {scalar, scalar}, [&](const Vars& in) -> Vars { return {b.op(combiner, {in[0], in[1]})}; });
  return b.ops("reduce_window", {x, b.full(scalar, start)}, {x.type()},
               {{"window_dimensions", Attr{window}}, {"padding", Attr{padding}}}, {body})[0];
}

Program scan_program(Shape shape, std::size_t dim, bool backward, std::string_view combiner,
                     double start) {
  Builder b("scan");
  b.function("main", {f32(std::move(shape))}, [&](const Vars& in) -> Vars {
    return {cumulative(b, in[0], dim, backward, combiner, start)};
  });
  return b.finish().value();
}

TEST(Lines, OnlyTotalsOfAScanTravel) {
  for (bool backward : {false, true})
    for (std::int64_t rows : {16, 13, 9}) {
      const Program program = scan_program({rows, 6}, 0, backward, "add", 0);
      const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
      EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x", 1}}));
      EXPECT_EQ(bytes(spmd), 3 * 6 * 4);  // a row of three others
      EXPECT_LT(difference(program, spmd), 1e-4);
    }
}

TEST(Lines, AScanOverTwoAxesGathersTotalsOnce) {
  const Program program = scan_program({24}, 0, false, "add", 0);
  const Spmd spmd = on_mesh(program, {{"x", 2}, {"y", 3}}, {argument(0, {{"x", "y"}})});
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-gather over x, y", 1}}));
  EXPECT_EQ(bytes(spmd), 5 * 4);
  EXPECT_LT(difference(program, spmd), 1e-4);
}

TEST(Lines, MaximaMayBeginWithAnything) {
  const Program program = scan_program({16}, 0, true, "maximum", 1);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}})});
  EXPECT_EQ(bytes(spmd), 3 * 4);
  EXPECT_EQ(difference(program, spmd), 0);
}

// Windows that are partly outside count what the sum begins with once for every element there.
TEST(Lines, SumsThatBeginWithSomethingAreNoScans) {
  const Program program = scan_program({16}, 0, false, "add", 1);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}})});
  EXPECT_EQ(bytes(spmd), 12 * 4);
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// Lines that lie whole on a device need nobody else.
TEST(Lines, AScanOfWholeLinesTellsNothing) {
  const Program program = scan_program({16, 6}, 1, false, "add", 0);
  const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
  EXPECT_TRUE(counts(spmd).empty());
  EXPECT_LT(difference(program, spmd), 1e-4);
}

}  // namespace
}  // namespace heddle::test
