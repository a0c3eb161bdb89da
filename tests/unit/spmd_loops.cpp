// What loops carry and take on a mesh: sums that are made once behind them, moves once before them.
#include <tuple>

#include "heddle/stablehlo.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

using Counted = std::map<std::string, int>;

// Kind, axes and depth of every communication.
std::vector<std::tuple<std::string, int>> told(const Spmd& spmd) {
  std::vector<std::tuple<std::string, int>> all;
  for (const Communication& c : spmd.functions[0].communications)
    all.emplace_back(std::string(name(c.kind)) + " over " + c.over, c.depth);
  return all;
}

struct Turn {
  Var counter, sum, other, x;
};

// Gradients of weights that every turn uses, added up from `start`.
Program sums_in_turns(double start, const std::function<Vars(Builder&, const Turn&)>& turn) {
  Builder b("loop");
  const Type x = f32({64, 16}), count = Type::tensor(DType::i32, {});
  b.function("main", {x}, [&](const Vars& in) -> Vars {
    const Var zeros = b.full(f32({16, 16}), start);
    const Vars out = b.while_loop(
        {b.full(count, 0), zeros, b.full(f32({}), 1), in[0]},
        [&](const Vars& v) { return b.compare("LT", v[0], b.full(count, 3)); },
        [&](const Vars& v) -> Vars {
          Vars next{v[0] + 1.0};
          for (const Var& one : turn(b, {v[0], v[1], v[2], v[3]})) next.push_back(one);
          return next;
        });
    return {out[1], out[2]};
  });
  return b.finish().value();
}

Var gradient(Builder& b, Var x) { return b.dot(x, x, DotDims{{}, {}, {0}, {0}}); }

TEST(Loops, ASumThatTurnsOnlyAddToIsMadeOnceBehindTheLoop) {
  for (const double start : {0.0, 2.0}) {
    const Program program = sums_in_turns(start, [](Builder& b, const Turn& turn) -> Vars {
      const Var x = b.op("tanh", {turn.x * 0.5});
      return {turn.sum + gradient(b, x), turn.other, x};
    });
    const Spmd spmd = on_mesh(program, {{"dp", 4}}, {argument(0, {{"dp"}, {}})});
    EXPECT_EQ(told(spmd), (std::vector<std::tuple<std::string, int>>{{"all-reduce over dp", 0}}))
        << start;
    EXPECT_LT(difference(program, spmd), 1e-4) << start;
  }
}

// Two contributions of a turn, one of them taken away, and the sum scaled on its way.
TEST(Loops, SumsStayOpenThroughWhatIsLinearInThem) {
  const Program program = sums_in_turns(0, [](Builder& b, const Turn& turn) -> Vars {
    const Var x = b.op("tanh", {turn.x * 0.5});
    return {turn.sum * 0.9 + gradient(b, x) - gradient(b, turn.x) * 0.1, turn.other, x};
  });
  const Spmd spmd = on_mesh(program, {{"dp", 4}}, {argument(0, {{"dp"}, {}})});
  EXPECT_EQ(counts(spmd), (Counted{{"all-reduce over dp", 1}}));
  EXPECT_EQ(std::get<1>(told(spmd)[0]), 0);
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// Each turn looks at it, squares it, or adds what every device has whole.
TEST(Loops, SumsThatTurnsNeedAreMadeInEveryTurn) {
  const auto expect_in_turns = [](const std::function<Vars(Builder&, const Turn&)>& turn) {
    const Program program = sums_in_turns(0, turn);
    const Spmd spmd = on_mesh(program, {{"dp", 4}}, {argument(0, {{"dp"}, {}})});
    bool in_turns = false;
    for (const auto& [what, depth] : told(spmd)) in_turns = in_turns || depth == 1;
    EXPECT_TRUE(in_turns);
    EXPECT_LT(difference(program, spmd), 1e-3);
  };
  expect_in_turns([](Builder& b, const Turn& turn) -> Vars {
    const Var x = b.op("tanh", {turn.x * 0.5});
    return {turn.sum + gradient(b, x), b.reduce(turn.sum, {0, 1}, "maximum"), x};
  });
  expect_in_turns([](Builder& b, const Turn& turn) -> Vars {
    const Var x = b.op("tanh", {turn.x * 0.5});
    return {b.op("tanh", {turn.sum}) + gradient(b, x), turn.other, x};
  });
}

// What is added beside the contributions is whole on every device, and counts once.
TEST(Loops, WhatIsAddedToAnOpenSumCountsOnce) {
  const Program program = sums_in_turns(0, [](Builder& b, const Turn& turn) -> Vars {
    const Var x = b.op("tanh", {turn.x * 0.5});
    const Var more = b.broadcast(turn.other, {16, 16});
    return {turn.sum + gradient(b, x) + more, turn.other * 2.0, x};
  });
  const Spmd spmd = on_mesh(program, {{"dp", 4}}, {argument(0, {{"dp"}, {}})});
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// A loop in a loop: the inner sum is open where the outer one adds it.
TEST(Loops, SumsOfInnerLoopsStayOpenInOuterOnes) {
  const Program program = sums_in_turns(0, [](Builder& b, const Turn& turn) -> Vars {
    const Type count = Type::tensor(DType::i32, {});
    const Vars inner = b.while_loop(
        {b.full(count, 0), b.full(f32({16, 16}), 0), turn.x},
        [&](const Vars& v) { return b.compare("LT", v[0], b.full(count, 2)); },
        [&](const Vars& v) -> Vars {
          const Var x = b.op("tanh", {v[2] * 0.5});
          return {v[0] + 1.0, v[1] + gradient(b, x), x};
        });
    return {turn.sum + inner[1], turn.other, inner[2]};
  });
  const Spmd spmd = on_mesh(program, {{"dp", 4}}, {argument(0, {{"dp"}, {}})});
  EXPECT_EQ(told(spmd), (std::vector<std::tuple<std::string, int>>{{"all-reduce over dp", 0}}));
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// Every turn takes another row of what is split: all of it is gathered once.
TEST(Loops, WhatTurnsTakeInPartsIsGatheredBeforeThem) {
  const Program program = read_stablehlo(R"(
    func.func @main(%x: tensor<64x8xf32>, %rows: tensor<8x1024xf32>) -> tensor<64x1024xf32> {
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %init = stablehlo.constant dense<0.0> : tensor<64x1024xf32>
      %r:3 = stablehlo.while(%i = %c0, %k = %rows, %y = %init)
          : tensor<i32>, tensor<8x1024xf32>, tensor<64x1024xf32>
      cond {
        %end = stablehlo.constant dense<8> : tensor<i32>
        %go = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %row = stablehlo.dynamic_slice %k, %i, %zero, sizes = [1, 1024]
            : (tensor<8x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1024xf32>
        %all = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x1024xf32>) -> tensor<64x1024xf32>
        %old = stablehlo.tanh %y : tensor<64x1024xf32>
        %new = stablehlo.add %old, %all : tensor<64x1024xf32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %k, %new : tensor<i32>, tensor<8x1024xf32>, tensor<64x1024xf32>
      }
      return %r#2 : tensor<64x1024xf32>
    })",
                                         "t.mlir")
                              .value();
  const Spmd spmd =
      on_mesh(program, {{"x", 4}},
              {argument(0, {{"x"}, {}}), argument(1, {{"x"}, {}}), result(0, {{"x"}, {}})});
  EXPECT_EQ(told(spmd), (std::vector<std::tuple<std::string, int>>{{"all-gather over x", 0}}));
  EXPECT_LT(difference(program, spmd), 1e-4);
}

// The transpose of weights that a loop does not change is made, and gathered, before it.
TEST(Loops, WhatIsMadeOfUnchangedValuesComesBeforeTheLoop) {
  Builder b("loop");
  const Type x = f32({1024, 64}), w = f32({64, 64}), count = Type::tensor(DType::i32, {});
  b.function("main", {x, w}, [&](const Vars& in) -> Vars {
    const Vars out = b.while_loop(
        {b.full(count, 0), in[0], in[1]},
        [&](const Vars& v) { return b.compare("LT", v[0], b.full(count, 3)); },
        [&](const Vars& v) -> Vars {
          const Var turned = b.op("negate", {b.transpose(v[2], {1, 0})});
          return {v[0] + 1.0, b.op("tanh", {b.dot(v[1], turned)}), v[2]};
        });
    return {out[1]};
  });
  const Program program = b.finish().value();
  const Spmd spmd =
      on_mesh(program, {{"x", 4}}, {argument(0, {{"x"}, {}}), argument(1, {{"x"}, {}})});
  EXPECT_EQ(told(spmd), (std::vector<std::tuple<std::string, int>>{{"all-gather over x", 0}}));
  EXPECT_LT(difference(program, spmd), 1e-4);
}

}  // namespace
}  // namespace heddle::test
