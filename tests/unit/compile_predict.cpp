// What a compiled program is predicted to take: its steps as they are, with loops and collectives.
#include "base/json.h"
#include "compile/calibrate_steps.h"
#include "compile/calibrate_texts.h"
#include "compile/predict.h"
#include "compiled.h"
#include "device/cpu/jit.h"

namespace heddle {
namespace {

// Kernels that are interpreted are not counted.
class Predict : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto target = CpuJit().target(); !target) GTEST_SKIP() << target.reason();
  }
};

Cluster cluster() {
  Cluster c;
  c.name = "test";
  c.memory = 1 << 30;
  c.levels = {{"device", 1, {1e-6, 1e9}}};
  c.steps.workers = 1;
  c.steps.start = 1e-5;
  for (double StepFigures::* other :
       {&StepFigures::access_rate, &StepFigures::convert_rate, &StepFigures::run_rate,
        &StepFigures::near_rate, &StepFigures::far_rate, &StepFigures::memory_rate})
    c.steps.*other = 1e15;  // what costs nothing here
  c.steps.first_cache = c.steps.near_cache = c.steps.far_cache = 1e12;
  c.steps.call = 1e-7;
  c.steps.light_rate = 1e11;
  c.steps.heavy_rate = 5e9;
  c.steps.lane_rate = 2e9;
  c.steps.product_rate = 1e11;
  c.steps.pack_rate = 1e10;
  return c;
}

double predicted(const std::string& text) {
  return predict(compiled(read(text)), cluster()).value().seconds;
}

std::string loop(int turns) {
  const std::string type = trials::vector_type(4096);
  return trials::loop_text(turns, type, type, "%z = stablehlo.exponential %y : " + type);
}

TEST_F(Predict, ALoopTakesAsLongAsItsTurns) {
  const double ten = predicted(loop(10)), twenty = predicted(loop(20)),
               thirty = predicted(loop(30));
  EXPECT_NEAR(thirty - twenty, twenty - ten, 1e-9);
  // Ten turns of 4096 exponentials, at least.
  EXPECT_GT(twenty - ten, 10 * 4096 / 5e9);
  EXPECT_LT(twenty - ten, 20 * 4096 / 5e9);
}

TEST_F(Predict, EveryStepHasItsPart) {
  const Executable executable = compiled(read(loop(10)));
  const Prediction made = predict(executable, cluster()).value();
  ASSERT_EQ(made.step_seconds.size(), executable.steps().size());
  double outer = cluster().steps.start;
  for (std::size_t i = 0; i < made.step_seconds.size(); ++i)
    if (executable.steps()[i].depth == 0) outer += made.step_seconds[i];
  EXPECT_NEAR(outer, made.seconds, 1e-12);
}

// Sixteen elements are whole vectors on every machine; one more is another vector.
TEST_F(Predict, LanesWithoutAnElementCountToo) {
  const auto exponentials = [](int n) {
    const std::string type = fmt::format("tensor<{}xf32>", n);
    const std::string text = fmt::format(
        "func.func @main(%x: {0}) -> {0} {{\n%0 = stablehlo.exponential %x : {0}\nreturn %0 : "
        "{0}\n}}",
        type);
    return compiled(read(text)).step_work().at(0).alone.heavy;
  };
  EXPECT_EQ(exponentials(16), 16);
  EXPECT_EQ(exponentials(48), 48);
  EXPECT_GT(exponentials(17), 17);
}

TEST_F(Predict, ProductsCountByTheirShapes) {
  const auto product = [](int m, int n, int k) {
    return fmt::format(
        "func.func @main(%a: tensor<{0}x{2}xf32>, %b: tensor<{2}x{1}xf32>) -> tensor<{0}x{1}xf32> "
        "{{\n"
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<{0}x{2}xf32>, "
        "tensor<{2}x{1}xf32>) -> tensor<{0}x{1}xf32>\nreturn %0 : tensor<{0}x{1}xf32>\n}}",
        m, n, k);
  };
  const double expected = product_seconds({64, 48, 32}, cluster().steps);
  EXPECT_NEAR(predicted(product(64, 48, 32)), 1e-5 + 1e-7 + expected, 1e-9);
}

// Small operands of one op are one message, and are copied for it; a large one goes alone.
TEST_F(Predict, MessagesOfACollectiveAreCountedAsTheyGo) {
  const std::string text = R"(func.func @main(%a: tensor<64xf32>, %b: tensor<32xf32>,
      %c: tensor<65536xf32>, %d: tensor<16xf32>)
      -> (tensor<64xf32>, tensor<32xf32>, tensor<65536xf32>, tensor<16xf32>) {
  %r:4 = "stablehlo.all_reduce"(%a, %b, %c, %d) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<64xf32>, tensor<32xf32>, tensor<65536xf32>, tensor<16xf32>)
    -> (tensor<64xf32>, tensor<32xf32>, tensor<65536xf32>, tensor<16xf32>)
  return %r#0, %r#1, %r#2, %r#3
    : tensor<64xf32>, tensor<32xf32>, tensor<65536xf32>, tensor<16xf32>
})";
  const Executable executable = compiled(read(text));
  StepWork sum;
  for (const StepWork& step : executable.step_work())
    if (step.kind == CollectiveKind::all_reduce) sum = step;
  EXPECT_EQ(sum.moved, (std::vector<double>{4.0 * 96, 4.0 * 65536, 4.0 * 16}));
  EXPECT_EQ(sum.bytes, 2 * 2 * 4.0 * 96);  // in and out, each read and written
  Cluster two = cluster();
  two.levels[0].size = 2;
  two.moves = {{CollectiveKind::all_reduce, 1, 1e-6}, {CollectiveKind::all_reduce, 1e9, 1e-6}};
  two.steps.beside = 1;
  const double all = predict(executable, two).value().seconds;
  two.steps.beside = 0.25;
  EXPECT_NEAR(all - predict(executable, two).value().seconds, 2 * 0.75e-6, 1e-12);
}

TEST_F(Predict, NothingIsSaidWithoutFiguresOfSteps) {
  Cluster bare = cluster();
  bare.steps = {};
  EXPECT_FALSE(predict(compiled(read(loop(3))), bare).has_value());
}

TEST(FitProducts, FindsTheFiguresThatProductsWereTimedWith) {
  StepFigures truth;
  truth.workers = 1;
  truth.product_call = 2e-7;
  truth.pack_rate = 8e9;
  truth.result_rate = 5e9;
  truth.product_rate = 1.2e11;
  std::vector<TimedProduct> timed;
  for (const ProductWork& p :
       {ProductWork{64, 64, 64}, ProductWork{32, 32, 16}, ProductWork{128, 16, 64},
        ProductWork{8, 64, 256}, ProductWork{256, 256, 256}, ProductWork{512, 16, 8}})
    timed.push_back({p, product_seconds(p, truth)});
  StepFigures found;
  fit_products(timed, found);
  EXPECT_NEAR(found.product_call, truth.product_call, 1e-3 * truth.product_call);
  EXPECT_NEAR(found.pack_rate, truth.pack_rate, 1e-3 * truth.pack_rate);
  EXPECT_NEAR(found.result_rate, truth.result_rate, 1e-3 * truth.result_rate);
  EXPECT_NEAR(found.product_rate, truth.product_rate, 1e-3 * truth.product_rate);
}

// Times that no such figures have: the nearest ones, none of which is negative.
TEST(FitProducts, LeavesOutWhatWouldBeNegative) {
  const std::vector<TimedProduct> timed = {
      {{64, 64, 64}, 6e-6}, {{32, 32, 32}, 0.6e-6}, {{128, 128, 128}, 60e-6}};
  StepFigures found;
  fit_products(timed, found);
  EXPECT_GE(found.product_call, 0);
  EXPECT_GE(found.pack_rate, 0);
  EXPECT_GT(found.product_rate, 0);
}

TEST(Cluster, FiguresOfStepsAndMovesReadBackAsTheyWere) {
  Cluster c = cluster();
  c.moves = {{CollectiveKind::all_gather, 64, 1.5e-6},
             {CollectiveKind::all_gather, 4096, 3e-6},
             {CollectiveKind::all_reduce, 64, 2e-6}};
  EXPECT_EQ(parse_cluster(cluster_text(c), "here").value(), c);
}

TEST(Cluster, WrongFiguresOfStepsAreRefusedWithTheirPlace) {
  const std::string start =
      R"({"name": "x", "device": {"memory": "1GB", "memory_rate": "1GB/s", "compute_rate": "1GFLOP/s"}, "levels": [{"name": "d", "size": 1, "rate": "1GB/s", "latency": "1us"}], )";
  const auto why = [&](const std::string& rest) {
    return parse_cluster(start + rest + "}", "f").reason();
  };
  const auto with = [&](const char* key, double value) {
    Json steps = Json::parse(cluster_text(cluster()))["steps"];
    steps[key] = value;
    return why("\"steps\": " + steps.dump());
  };
  EXPECT_EQ(with("call", -1), "cluster f: steps: \"call\" is -1.0, and should be a number above 0");
  EXPECT_EQ(with("light_rate", 0),
            "cluster f: steps: \"light_rate\" is 0.0, and should be a number above 0");
  EXPECT_EQ(with("wake", -1),
            "cluster f: steps: \"wake\" is -1.0, and should be a number of at least 0");
  EXPECT_EQ(why(R"("steps": {"workers": 1})"),
            "cluster f: steps: \"together\" is missing; `heddle calibrate -o FILE` writes all of "
            "them");
  EXPECT_NE(why(R"("steps": {"cal": 1})").find("steps: \"cal\" is no key of it"),
            std::string::npos);
  EXPECT_EQ(why(R"("moves": {"all-reduce": [[8, 1], [4, 1]]})"),
            "cluster f: moves: \"all-reduce\" should have pairs of bytes and seconds, the smallest "
            "first");
  EXPECT_EQ(why(R"("moves": {"gossip": []})"), "cluster f: moves: \"gossip\" is no collective");
}

}  // namespace
}  // namespace heddle
