// Programs that same_program() calls equal have equal hashes; a change anywhere gives another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

const Type kVector = Type::tensor(DType::f32, {4});

Program made(const std::function<Vars(Builder&, const Vars&)>& body,
             const std::vector<Type>& arguments = {kVector, kVector}) {
  Builder b("m");
  b.function("main", arguments, [&](const Vars& in) { return body(b, in); });
  return b.finish().value();
}

Program sum() {
  return made([](Builder&, const Vars& in) -> Vars { return {in[0] + in[1]}; });
}

TEST(Hash, EqualProgramsHaveEqualOnes) {
  EXPECT_EQ(sum().hash(), sum().hash());
  Builder b("m");
  b.at(Location{3, 4, "model.py:1"});
  b.function("main", {kVector, kVector}, [](const Vars& in) -> Vars { return {in[0] + in[1]}; });
  const Program elsewhere = b.finish().value();
  ASSERT_TRUE(same_program(sum(), elsewhere));
  EXPECT_EQ(sum().hash(), elsewhere.hash());
}

TEST(Hash, AChangeAnywhereGivesAnother) {
  std::vector<Program> programs;
  auto add = [&](const std::function<Vars(Builder&, const Vars&)>& body) {
    programs.push_back(made(body));
  };
  using In = const Vars&;
  add([](Builder&, In in) -> Vars { return {in[0] + in[1]}; });
  add([](Builder&, In in) -> Vars { return {in[1] + in[0]}; });
  add([](Builder&, In in) -> Vars { return {in[0] - in[1]}; });
  add([](Builder&, In in) -> Vars { return {in[0] + in[0]}; });
  add([](Builder&, In in) -> Vars { return {in[0] + in[1], in[0]}; });
  add([](Builder&, In in) -> Vars { return {in[0] + 1}; });
  add([](Builder&, In in) -> Vars { return {in[0] + 2}; });
  add([](Builder& b, In in) -> Vars { return {b.slice(in[0], {0}, {2})}; });
  add([](Builder& b, In in) -> Vars { return {b.slice(in[0], {1}, {3})}; });
  add([](Builder& b, In in) -> Vars { return {b.compare("LT", in[0], in[1])}; });
  add([](Builder& b, In in) -> Vars { return {b.compare("GT", in[0], in[1])}; });
  add([](Builder& b, In in) -> Vars { return {b.reduce(in[0], {0}, "add")}; });
  add([](Builder& b, In in) -> Vars { return {b.reduce(in[0], {0}, "maximum")}; });
  // Which of two uses comes through which value: a key that names a value only once misses this.
  add([](Builder&, In in) -> Vars {
    const Var x = in[0] * in[1], y = in[0] - in[1];
    return {x + y, y + x};
  });
  add([](Builder&, In in) -> Vars {
    const Var x = in[0] * in[1], y = in[0] - in[1];
    return {x + y, x + y};
  });
  programs.push_back(made([](Builder&, In in) -> Vars { return {in[0] + in[1]}; },
                          {Type::tensor(DType::f32, {5}), Type::tensor(DType::f32, {5})}));
  std::set<std::uint64_t> hashes;
  for (const Program& program : programs) hashes.insert(program.hash());
  EXPECT_EQ(hashes.size(), programs.size());
}

// A region may be filled before or after the op around it, and arguments may come late.
TEST(Hash, DoesNotDependOnTheOrderOfWriting) {
  auto loop = [&](bool early) {
    Program p;
    const TypeId i32 = p.intern(Type::tensor(DType::i32, {}));
    const TypeId truth = p.intern(Type::tensor(DType::i1, {}));
    const RegionId body = p.add_region();
    const ValueId start = p.add_arg(body, i32);
    const RegionId regions[] = {p.add_region(), p.add_region()};
    auto fill = [&] {
      const ValueId at[] = {p.add_arg(regions[0], i32), p.add_arg(regions[1], i32)};
      const ValueId pair[] = {at[0], at[0]};
      const OpId less = p.add_op(regions[0], *find_op("stablehlo.compare"), pair, {&truth, 1},
                                 {{"comparison_direction", {Attr::Enum{"", "LT"}}}});
      const ValueId go = p.op(less).results;
      p.add_op(regions[0], *find_op("stablehlo.return"), {&go, 1}, {});
      p.add_op(regions[1], *find_op("stablehlo.return"), {&at[1], 1}, {});
    };
    if (early) fill();
    const OpId id =
        p.add_op(body, *find_op("stablehlo.while"), {&start, 1}, {&i32, 1}, {}, regions);
    if (!early) fill();
    const ValueId end = p.op(id).results;
    p.add_op(body, *find_op("func.return"), {&end, 1}, {});
    Function f;
    f.name = "main";
    f.results = {i32};
    f.body = body;
    p.functions.push_back(f);
    return p;
  };
  ASSERT_TRUE(same_program(loop(true), loop(false)));
  EXPECT_EQ(loop(true).hash(), loop(false).hash());
}

TEST(Hash, KnowsLayouts) {
  auto placed = [](const std::vector<std::string>& tries) {
    Program p = sum();
    EXPECT_TRUE(p.add_mesh("mesh", {{"x", 2}, {"y", 2}}));
    for (const std::string& axis : tries) {
      Sharding sharding{"mesh", {{{{axis}}}}, {}, {}};
      p.set_layout(p.region(p.functions[0].body).args[0], p.add_layout(sharding, kVector).value());
    }
    return p;
  };
  EXPECT_NE(placed({"x"}).hash(), placed({"y"}).hash());
  EXPECT_NE(placed({"x"}).hash(), placed({}).hash());
  EXPECT_EQ(placed({"x"}).hash(), placed({"y", "x"}).hash());
}

// However an array is held, its elements count.
TEST(Hash, OfASplatIsThatOfItsElements) {
  const float one = 1;
  const Array splat = Array::splat(kVector, std::as_bytes(std::span(&one, 1)));
  const Array dense = make_array<float>(Shape{4}, {1, 1, 1, 1});
  EXPECT_EQ(splat, dense);
  EXPECT_TRUE(splat.is_splat());
  EXPECT_EQ(Attr{splat}.hash(), Attr{dense}.hash());
  EXPECT_NE(splat, make_array<float>(Shape{4}, {1, 1, 1, 2}));
}

}  // namespace
}  // namespace heddle
