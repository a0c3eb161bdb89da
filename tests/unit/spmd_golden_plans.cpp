// Plans that experts write by hand, found without a hint; their bytes are those of the closed
// formulas.
#include <gmock/gmock.h>

#include "heddle/cluster.h"
#include "heddle/search.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kDevices = 8;

// A step of training of x W1 -> relu -> W2 with gradients written out; W1 and W2 are carried, and
// so are their momenta where there are some.
struct Mlp {
  std::int64_t tokens = 0, width = 0, hidden = 0;
  bool momenta = false;

  Program program() const {
    Builder b("mlp");
    std::vector<Type> types{f32({width, hidden}), f32({hidden, width}), f32({tokens, width}),
                            f32({tokens, width})};
    if (momenta) types.insert(types.end(), {types[0], types[1]});
    b.function("main", types, [&](const Vars& in) -> Vars {
      const Var w1 = in[0], w2 = in[1], x = in[2], target = in[3];
      const Var before = b.dot(x, w1);
      const Var zero = b.full_like(before, 0);
      const Var inner = b.op("maximum", {before, zero});
      const Var error = b.dot(inner, w2) - target;
      const Var d2 = b.dot(inner, error, {{}, {}, {0}, {0}});
      const Var d_inner = b.dot(error, w2, {{}, {}, {1}, {1}});
      const Var d_before = b.select(b.compare("GT", before, zero), d_inner, zero);
      const Var d1 = b.dot(x, d_before, {{}, {}, {0}, {0}});
      if (!momenta) return {w1 - d1 * 0.1, w2 - d2 * 0.1};
      const Var m1 = in[4] * 0.9 + d1, m2 = in[5] * 0.9 + d2;
      return {w1 - m1 * 0.1, w2 - m2 * 0.1, m1, m2};
    });
    return b.finish().value();
  }
  std::vector<Carried> carried() const {
    std::vector<Carried> all{{0, 0}, {1, 1}};
    if (momenta) all.insert(all.end(), {{4, 2}, {5, 3}});
    return all;
  }
  std::int64_t weight_bytes() const { return 4 * width * hidden; }  // of one of the two
  std::int64_t token_bytes() const { return 4 * tokens * width; }
};

SpmdOptions searched(const Mlp& mlp, std::int64_t memory = INT64_MAX) {
  SpmdOptions options;
  options.mesh = "mesh";
  options.function = "main";
  options.carried = mlp.carried();
  options.search.emplace().memory_limit = memory;
  return options;
}

Expected<Spmd> found(const Mlp& mlp, std::int64_t memory = INT64_MAX) {
  Program program = mlp.program();
  (void)program.add_mesh("mesh", {{"x", kDevices}}).value();
  return partition(program, searched(mlp, memory));
}

std::string lies(const Spmd& spmd, std::size_t argument) {
  const SpmdFunction& f = spmd.functions[0];
  return text_of(f.arguments[argument], spmd.program.meshes[f.mesh].mesh);
}

TEST(GoldenPlans, ManyTokensAndSmallWeightsAreDataParallel) {
  const Mlp mlp{.tokens = 65536, .width = 512, .hidden = 1024};
  const Spmd spmd = found(mlp).value();
  EXPECT_EQ(lies(spmd, 2), R"([{"x"}, {}])");
  // The sums of both gradients, once: reduced, or scattered and gathered.
  EXPECT_EQ(bytes(spmd), 2 * 2 * (kDevices - 1) * mlp.weight_bytes() / kDevices);
}

TEST(GoldenPlans, WeightsThatDoNotFitAreSplitByColumnsAndThenByRows) {
  const Mlp mlp{.tokens = 256, .width = 4096, .hidden = 16384};
  const Spmd spmd = found(mlp, 2 * mlp.weight_bytes() / kDevices * 3).value();
  EXPECT_EQ(lies(spmd, 0), R"([{}, {"x"}])");
  EXPECT_EQ(lies(spmd, 1), R"([{"x"}, {}])");
  // One sum of what the second product gives, which both the error's users need.
  EXPECT_EQ(bytes(spmd), 2 * (kDevices - 1) * mlp.token_bytes() / kDevices);
}

TEST(GoldenPlans, MemoryThatGetsTightSplitsTheMomentaFirst) {
  const Mlp mlp{.tokens = 65536, .width = 512, .hidden = 1024, .momenta = true};
  const Spmd wide = found(mlp).value();
  const std::int64_t room = wide.decided->functions[0].found->peak_bytes - mlp.weight_bytes();
  const Spmd tight = found(mlp, room).value();
  EXPECT_EQ(lies(tight, 2), R"([{"x"}, {}])");
  const auto& f = tight.functions[0];
  EXPECT_FALSE(f.arguments[4].is_whole() && f.arguments[5].is_whole());
  // Gradients are scattered and weights gathered: as many bytes as to reduce them.
  EXPECT_EQ(bytes(tight), bytes(wide));
}

TEST(GoldenPlans, TheBoundIsNeverAboveTheCost) {
  for (const std::int64_t tokens : {64, 1024, 16384}) {
    const Spmd spmd = found({.tokens = tokens, .width = 256, .hidden = 1024}).value();
    const FoundPlan& plan = *spmd.decided->functions[0].found;
    EXPECT_LE(plan.bound, plan.cost);
    EXPECT_LT(plan.gap(), 1e-4);
  }
}

TEST(GoldenPlans, WhatIsGivenHolds) {
  const Mlp mlp{.tokens = 65536, .width = 512, .hidden = 1024};
  Program program = mlp.program();
  (void)program.add_mesh("mesh", {{"x", kDevices}}).value();
  SpmdOptions options = searched(mlp);
  options.seeds = {argument(2, {{}, {"x"}})};
  const Spmd spmd = partition(program, options).value();
  EXPECT_EQ(lies(spmd, 2), R"([{}, {"x"}])");
}

TEST(GoldenPlans, TheSameProgramHasTheSamePlan) {
  const Mlp mlp{.tokens = 4096, .width = 1024, .hidden = 4096, .momenta = true};
  const Spmd one = found(mlp).value(), two = found(mlp).value();
  EXPECT_TRUE(same_program(one.program, two.program).ok());
}

TEST(GoldenPlans, WhatCannotFitIsSaid) {
  const Mlp mlp{.tokens = 64, .width = 1024, .hidden = 4096};
  const auto spmd = found(mlp, 1000);
  ASSERT_FALSE(spmd.ok());
  EXPECT_THAT(spmd.reason(), HasSubstr("no plan takes less than"));
  EXPECT_THAT(spmd.reason(), HasSubstr("tensor<1024x4096xf32> of an argument"));
}

// ---- clusters

constexpr const char* kCluster = R"({"name": "two", "device": {"memory": "80GB",
  "memory_rate": "3TB/s", "compute_rate": "500TFLOP/s"}, "levels": [
  {"name": "node", "size": 4, "rate": "50GB/s", "latency": "14us"},
  {"name": "gpu", "size": 8, "rate": "320GB/s", "latency": "3us"}]})";

TEST(Clusters, AxesHaveTheSlowestLinkThatTheyCross) {
  const Cluster cluster = parse_cluster(kCluster, "two.json").value();
  EXPECT_EQ(cluster.devices(), 32);
  AxisRegistry axes = AxisRegistry::standard();
  const Mesh mesh = Mesh::parse("dp=2,pp=4,tp=4", axes).value();
  const Mesh placed = cluster.with_figures(mesh).value();
  EXPECT_EQ(placed.axes()[2].link.bandwidth, 320e9);  // inside of a machine
  EXPECT_EQ(placed.axes()[1].link.bandwidth, 50e9);   // two inside, two machines
  EXPECT_EQ(placed.axes()[0].link.bandwidth, 50e9);
  EXPECT_EQ(placed.local_bandwidth(), 3e12);
  EXPECT_EQ(placed.local_operations(), 500e12);
}

TEST(Clusters, ThoseThatComeAlongAreRight) {
  EXPECT_THAT(known_clusters(),
              ::testing::IsSupersetOf({"h200-8", "h100-64", "h100-512", "h100-8192"}));
  for (const std::string& name : known_clusters()) {
    const auto cluster = find_cluster(name);
    ASSERT_TRUE(cluster.ok()) << cluster.reason();
    EXPECT_EQ(cluster->name, name);
    for (const std::string& text : meshes_of(*cluster)) {
      AxisRegistry axes = AxisRegistry::standard();
      const Mesh mesh = Mesh::parse(text, axes).value();
      EXPECT_EQ(mesh.devices(), cluster->devices()) << text;
      EXPECT_TRUE(cluster->with_figures(mesh).ok()) << text;
    }
  }
}

TEST(Clusters, MistakesAreSaid) {
  const std::string good = kCluster;
  auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const auto cluster = parse_cluster(text, "c.json");
    return cluster ? "it is right" : cluster.reason();
  };
  EXPECT_THAT(with("\"50GB/s\"", "\"-50GB/s\""), HasSubstr("level node: \"rate\" is -50GB/s"));
  EXPECT_THAT(with("\"50GB/s\"", "\"50GB\""), HasSubstr("kB/s, MB/s, GB/s, TB/s"));
  EXPECT_THAT(with("\"size\": 4", "\"size\": 0"), HasSubstr("whole number of at least 1"));
  EXPECT_THAT(with("\"gpu\"", "\"node\""), HasSubstr("two levels are called node"));
  EXPECT_THAT(with("\"latency\": \"3us\"", "\"latncy\": \"3us\""),
              HasSubstr("did you mean `latency`"));
  EXPECT_THAT(with("\"80GB\"", "\"much\""), HasSubstr("should be as 80GB"));
  EXPECT_THAT(with("{\"name\": \"two\"", "[\"two\""), HasSubstr("no JSON object"));
  EXPECT_THAT(find_cluster("h100-46").reason(), HasSubstr("did you mean `h100-64`"));
  AxisRegistry axes = AxisRegistry::standard();
  const Mesh mesh = Mesh::parse("dp=64", axes).value();
  EXPECT_THAT(parse_cluster(good, "c.json")->with_figures(mesh).reason(),
              HasSubstr("the mesh dp=64 has 64 devices, and cluster two has 32"));
}

// Whatever is in the file, it is read or refused with a reason that names it.
TEST(Clusters, AnyTextIsReadOrRefused) {
  const std::string good = kCluster;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const char* put : {"", "0", "-", "\"", "{", "]", "9999999999999999999", "\xff", "null"}) {
      std::string text = good;
      text.replace(at, 1, put);
      const auto cluster = parse_cluster(text, "c.json");
      if (cluster)
        EXPECT_GT(cluster->devices(), 0) << text;
      else
        EXPECT_THAT(cluster.reason(), HasSubstr("cluster c.json: ")) << text;
    }
}

}  // namespace
}  // namespace heddle::test
