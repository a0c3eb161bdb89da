// ZeRO as memory tightens: states of the optimiser and gradients are split over the devices that
// share the batch, then weights too. Bytes are those of the closed formulas.
#include <gmock/gmock.h>

#include "heddle/search.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace golden_zero {
namespace {

constexpr std::int64_t kMany = 8;  // devices

// Layers tanh(x W) with gradients written out, and a step as Adam takes it: arguments are weights,
// first and second moments, then the batch.
struct Adam {
  std::int64_t layers = 4, tokens = 65536, width = 2048;

  std::size_t count() const { return static_cast<std::size_t>(layers); }
  std::int64_t weight() const { return 4 * width * width; }  // bytes of one
  std::int64_t weights() const { return layers * weight(); }

  Program program() const {
    Builder b("adam");
    std::vector<Type> types(3 * count(), f32({width, width}));
    types.push_back(f32({tokens, width}));
    b.function("main", types, [&](const Vars& in) -> Vars {
      std::vector<Var> at{in[3 * count()]};
      for (std::size_t l = 0; l < count(); ++l)
        at.push_back(b.op("tanh", {b.dot(at.back(), in[l])}));
      Vars out(3 * count());
      Var d = at.back();
      for (std::size_t l = count(); l-- > 0;) {
        const Var before = d * (b.full_like(d, 1) - at[l + 1] * at[l + 1]);
        const Var gradient = b.dot(at[l], before, {{}, {}, {0}, {0}});
        if (l > 0) d = b.dot(before, in[l], {{}, {}, {1}, {1}});
        const Var first = in[count() + l] * 0.9 + gradient * 0.1;
        const Var second = in[2 * count() + l] * 0.99 + gradient * gradient * 0.01;
        out[l] = in[l] - first * b.op("rsqrt", {second + b.full_like(second, 1e-8)}) * 1e-3;
        out[count() + l] = first;
        out[2 * count() + l] = second;
      }
      return out;
    });
    return b.finish().value();
  }

  Expected<Spmd> within(std::int64_t memory) const {
    Program made = program();
    (void)made.add_mesh("mesh", {{"x", kMany}}).value();
    SpmdOptions options;
    options.mesh = "mesh";
    options.function = "main";
    for (std::size_t i = 0; i < 3 * count(); ++i) options.carried.push_back({i, i});
    options.search.emplace().memory_limit = memory;
    options.search->recompute = 0;
    return partition(made, options);
  }

  std::size_t split_among(const Spmd& spmd, std::size_t begin, std::size_t end) const {
    std::size_t split = 0;
    for (std::size_t i = begin; i < end; ++i)
      split += spmd.functions[0].arguments[i].is_whole() ? 0 : 1;
    return split;
  }
};

// With n devices, P bytes of weights and one layer's share of them p:
//
// - gradients that are summed up everywhere: 2 (n - 1) / n P;
// - states split (ZeRO-1) and so gradients too (ZeRO-2, which moves less than to sum up everywhere
// and
//   split afterwards): they are scattered and weights gathered, (n - 1) / n P each, the same;
// - weights split (ZeRO-3): instead of being gathered behind the step, a weight is gathered on the
//   way there, and once more on the way back, because its copy is let go in between. The first
//   layer has no way back: nobody needs the gradient of the batch. So each but the first adds (n -
//   1) / n p.
TEST(GoldenZero, StatesAndGradientsThenWeightsAreSplitAsMemoryTightens) {
  const Adam adam;
  const Spmd wide = adam.within(INT64_MAX).value();
  const std::int64_t by_data = 2 * (kMany - 1) * adam.weights() / kMany;
  const std::int64_t one_more = (kMany - 1) * adam.weight() / kMany;
  EXPECT_EQ(bytes(wide), by_data);
  std::size_t states = 0, weights = 0;  // that are split
  std::int64_t room = wide.decided->functions[0].found->held_bytes;
  for (; weights < adam.count() - 1; room -= adam.weight() / 2) {
    const auto spmd = adam.within(room);
    ASSERT_TRUE(spmd.ok()) << spmd.reason();
    EXPECT_LE(spmd->decided->functions[0].found->held_bytes, room);
    EXPECT_FALSE(spmd->functions[0].arguments[3 * adam.count()].is_whole());  // the batch
    const std::size_t states_now = adam.split_among(*spmd, adam.count(), 3 * adam.count()),
                      weights_now = adam.split_among(*spmd, 1, adam.count());
    EXPECT_GE(states_now, states);
    EXPECT_GE(weights_now, weights);
    states = states_now;
    weights = weights_now;
    EXPECT_TRUE(weights == 0 || states == 2 * adam.count());
    EXPECT_EQ(bytes(*spmd), by_data + static_cast<std::int64_t>(weights) * one_more);
  }
  EXPECT_EQ(states, 2 * adam.count());
}

// What is let go and gathered again is what it was.
TEST(GoldenZero, ComputesTheSame) {
  const Adam adam{.layers = 2, .tokens = 64, .width = 8};
  const Spmd wide = adam.within(INT64_MAX).value();
  int looked_at = 0, let_go = 0;
  for (std::int64_t room = wide.decided->functions[0].found->held_bytes;; room -= adam.weight()) {
    const auto spmd = adam.within(room);
    if (!spmd) break;
    ++looked_at;
    for (const Decision& decision : spmd->decided->functions[0].decisions->ops)
      let_go += static_cast<int>(decision.let_go.size());
    EXPECT_LT(difference(adam.program(), *spmd), 1e-3);
  }
  EXPECT_GE(looked_at, 4);
  EXPECT_GT(let_go, 0);
}

}  // namespace
}  // namespace golden_zero
}  // namespace heddle::test
