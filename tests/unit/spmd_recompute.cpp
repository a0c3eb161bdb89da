// What is computed again instead of being kept, as memory gets tight.
#include <gmock/gmock.h>

#include "heddle/search.h"
#include "heddle/simplify.h"
#include "parallel/search/recompute.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace recompute_tests {
namespace {

constexpr std::int64_t kDevices = 4;

// Layers x + tanh(x W1) W2 with gradients written out, and a step along them.
struct Residual {
  std::int64_t layers = 6, tokens = 4096, width = 64, hidden = 512;

  Program program() const {
    Builder b("residual");
    std::vector<Type> types{f32({tokens, width})};
    for (std::int64_t l = 0; l < layers; ++l)
      types.insert(types.end(), {f32({width, hidden}), f32({hidden, width})});
    b.function("main", types, [&](const Vars& in) -> Vars {
      Var x = in[0];
      std::vector<Var> inputs, inner;
      for (std::size_t l = 0; l < static_cast<std::size_t>(layers); ++l) {
        inputs.push_back(x);
        inner.push_back(b.op("tanh", {b.dot(x, in[1 + 2 * l])}));
        x = x + b.dot(inner.back(), in[2 + 2 * l]);
      }
      Var d = x * 0.001;
      Vars out(static_cast<std::size_t>(2 * layers));
      for (auto l = static_cast<std::size_t>(layers); l-- > 0;) {
        const Var w1 = in[1 + 2 * l], w2 = in[2 + 2 * l];
        const Var d2 = b.dot(inner[l], d, {{}, {}, {0}, {0}});
        const Var d_inner = b.dot(d, w2, {{}, {}, {1}, {1}});
        const Var d_before = d_inner * (b.full_like(inner[l], 1) - inner[l] * inner[l]);
        const Var d1 = b.dot(inputs[l], d_before, {{}, {}, {0}, {0}});
        d = d + b.dot(d_before, w1, {{}, {}, {1}, {1}});
        out[2 * l] = w1 - d1 * 0.1;
        out[2 * l + 1] = w2 - d2 * 0.1;
      }
      return out;
    });
    return b.finish().value();
  }
  std::vector<Carried> carried() const {
    std::vector<Carried> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(2 * layers); ++i)
      all.push_back({i + 1, i});
    return all;
  }
};

Expected<Spmd> found(const Residual& net, std::int64_t memory, std::optional<int> effort = {}) {
  Program program = net.program();
  (void)program.add_mesh("mesh", {{"x", kDevices}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.function = "main";
  options.carried = net.carried();
  options.search.emplace().memory_limit = memory;
  options.search->recompute = effort;
  return partition(program, options);
}

const FoundPlan& plan_of(const Spmd& spmd) { return *spmd.decided->functions[0].found; }

TEST(Recompute, TakesWhatIsCheapestAsMemoryGetsTight) {
  const Residual net;
  const Spmd wide = found(net, INT64_MAX).value();
  EXPECT_FALSE(plan_of(wide).recomputed);
  const std::int64_t all = plan_of(wide).peak_bytes;
  // A layer keeps what its tanh gives; one is in use.
  const std::int64_t inner = 4 * net.tokens * net.hidden / kDevices;
  const Spmd tight = found(net, all - 2 * inner).value();
  ASSERT_TRUE(plan_of(tight).recomputed);
  EXPECT_LE(plan_of(tight).peak_bytes, all - 2 * inner);
  EXPECT_GE(plan_of(tight).recomputed->bytes, 2 * inner);
  EXPECT_GT(plan_of(tight).recomputed->seconds, 0);
  EXPECT_GT(plan_of(tight).cost, plan_of(wide).cost);
  EXPECT_LE(plan_of(tight).bound, plan_of(tight).cost);
}

TEST(Recompute, NothingIsWhereNobodyNeedsIt) {
  const Residual net{.layers = 2};
  EXPECT_FALSE(plan_of(found(net, INT64_MAX).value()).recomputed);
  EXPECT_FALSE(plan_of(found(net, std::int64_t{1} << 40).value()).recomputed);
}

TEST(Recompute, WhatIsSaidHolds) {
  const Residual net;
  const Spmd never = found(net, std::int64_t{1} << 40, 0).value();
  EXPECT_FALSE(plan_of(never).recomputed);
  const Spmd always = found(net, INT64_MAX, 1024).value();
  ASSERT_TRUE(plan_of(always).recomputed);
  EXPECT_EQ(plan_of(always).recomputed->effort, 1024);
  EXPECT_LT(plan_of(always).peak_bytes, plan_of(never).peak_bytes);
}

TEST(Recompute, GivesTheSameOnDevices) {
  const Residual net{.layers = 4, .tokens = 64, .width = 4, .hidden = 32};
  const Spmd spmd = found(net, INT64_MAX, 1024).value();
  ASSERT_TRUE(plan_of(spmd).recomputed);
  EXPECT_LT(difference(net.program(), spmd), 1e-4);
}

// What is equal becomes one, but not what is computed again.
TEST(Recompute, StaysWhenProgramsAreSimplified) {
  const Residual net{.layers = 4, .tokens = 64, .width = 4, .hidden = 32};
  Program program = net.program();
  RuleCache rules(program);
  const auto how = search::recomputation_for(program, program.functions[0], rules, 1024);
  ASSERT_FALSE(how.again.empty());
  program.functions[0] = search::with_recomputation(program, program.functions[0], how).function;
  const auto tanhs = [](const Program& p) {
    std::size_t count = 0;
    for (OpId id : p.region(p.functions[0].body).ops)
      count += p.op(id).def->short_name() == "tanh" ? 1 : 0;
    return count;
  };
  const std::size_t before = tanhs(program);
  EXPECT_GT(before, static_cast<std::size_t>(net.layers));
  EXPECT_EQ(tanhs(simplify(program).value()), before);
}

TEST(Recompute, LayersThatAreAlikeAreCutAlike) {
  const Residual net{.layers = 12};
  Program program = net.program();
  RuleCache rules(program);
  const auto how = search::recomputation_for(program, program.functions[0], rules, 1024);
  // All but what the last stretch has: it is needed at once.
  std::map<std::string, int> made;
  for (ValueId v : how.again)
    ++made[std::string(program.op(program.value(v).op).def->short_name())];
  EXPECT_GE(made["tanh"], 6);
  EXPECT_EQ(made["tanh"], made["dot_general"]);
}

}  // namespace
}  // namespace recompute_tests
}  // namespace heddle::test
