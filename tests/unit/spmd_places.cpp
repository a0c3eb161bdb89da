// Ops that ask where elements stand: updates at places that data decide, order reversed, argmax.
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

using Counts = std::map<std::string, int>;

// A cache of keys that is split along its tokens: one of the devices writes.
TEST(Places, AnUpdateOfASplitCacheSendsNothing) {
  for (std::int64_t tokens : {16, 15}) {
    for (std::int64_t at : {0, 5, 14, 40}) {
      Builder b("cache");
      const Type cache = f32({2, tokens, 3}), fresh = f32({2, 1, 3});
      b.function("main", {cache, fresh}, [&](const Vars& in) -> Vars {
        auto number = [&](std::int64_t n) {
          return b.full(Type::tensor(DType::i32, {}), static_cast<double>(n));
        };
        const Var place = b.op("abs", {number(-at)});
        return {b.op("dynamic_update_slice", {in[0], in[1], number(0), place, number(0)}, cache)};
      });
      const Program program = b.finish().value();
      const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{}, {"x"}, {}})});
      EXPECT_EQ(counts(spmd), Counts{});
      EXPECT_EQ(difference(program, spmd), 0);
    }
  }
}

// 16 rows change places as blocks; of 15 each block first gets the row that it lacks at its end.
TEST(Places, AReversedDimensionIsOnePermutation) {
  for (std::int64_t rows : {16, 15}) {
    Builder b("reverse");
    const Type x = f32({rows, 3});
    b.function("main", {x}, [&](const Vars& in) -> Vars {
      return {b.op("reverse", {in[0]}, x, {{"dimensions", Attr{Attr::Integers{0}}}})};
    });
    const Program program = b.finish().value();
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
    Counts wanted{{"permute over x", 1}};
    if (rows == 15) wanted["halo-exchange over x"] = 1;
    EXPECT_EQ(counts(spmd), wanted);
    EXPECT_EQ(difference(program, spmd), 0);
  }
}

// Every device finds the largest of its rows; the four candidates travel, not the rows.
TEST(Places, ArgmaxGathersOneCandidateOfEachDevice) {
  for (std::int64_t rows : {16, 13}) {
    Builder b("argmax");
    const Type x = f32({rows, 3}), row = f32({3}), scalar = f32({});
    b.function("main", {x}, [&](const Vars& in) -> Vars {
      const RegionId larger =
          b.region({scalar, scalar, scalar, scalar}, [&](const Vars& v) -> Vars {
            const Var first =
                b.op("and", {b.compare("EQ", v[0], v[2]), b.compare("LT", v[1], v[3])});
            const Var left = b.op("or", {b.compare("GT", v[0], v[2]), first});
            return {b.select(left, v[0], v[2]), b.select(left, v[1], v[3])};
          });
      return b.ops("reduce", {in[0], b.iota(x, 0), b.full(scalar, -1e30), b.full(scalar, 1e9)},
                   {row, row}, {{"dimensions", Attr{Attr::Integers{0}}}}, {larger});
    });
    const Program program = b.finish().value();
    const Spmd spmd = on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}})});
    EXPECT_EQ(counts(spmd), (Counts{{"all-gather over x", 2}}));
    EXPECT_EQ(bytes(spmd), 2 * 3 * 3 * 4);
    EXPECT_EQ(difference(program, spmd), 0);
  }
}

}  // namespace
}  // namespace heddle::test
