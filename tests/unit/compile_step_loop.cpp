// Runs of many steps with checkpoints and batches, by the library alone.
#include <gmock/gmock.h>

#include <filesystem>

#include "compiled.h"
#include "heddle/execute.h"
#include "heddle/npy.h"
#include "heddle/step_loop.h"

namespace heddle::step_loop_tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const char* const kStep = R"(
  func.func @main(%n: tensor<f32>, %x: tensor<f32>) -> (tensor<f32> {jax.result_info = "loss"}, tensor<f32>) {
    %m = stablehlo.add %n, %x : tensor<f32>
    return %m, %m : tensor<f32>, tensor<f32>
  })";

class StepLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "batches");
    for (int i = 1; i <= 4; ++i) {
      Array batch(Type::tensor(DType::f32, {}));
      batch.as_mutable<float>()[0] = static_cast<float>(i);
      write_npy((folder_ / fmt::format("batches/{}.npy", i)).string(), batch).value();
    }
    options_.carry.pairs = {{.argument = 0, .result = 1}};
    options_.inputs = {"dense<0.0> : tensor<f32>"};
    options_.batches = {"arg1=" + (folder_ / "batches").string()};
    options_.say = [this](const std::string& line) { said_.push_back(line); };
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The last step's loss.
  float run(StepsDone* done = nullptr) {
    const Function& main = *program_.find_function("main");
    StepLoop loop(program_, main, options_);
    Deployed deployed = deploy(program_, main, {.carried = loop.carried()}, {}).value();
    loop.begin(deployed.deployment);
    while (loop.take()) {
    }
    if (done != nullptr) *done = loop.done();
    return loop.results()[0].as<float>()[0];
  }

  const Program program_ = read(kStep);
  const fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  StepLoopOptions options_;
  std::vector<std::string> said_;
};

TEST_F(StepLoopTest, StepsRefuseNumbersThatTheProgramDoesNotHave) {
  Deployment devices = Deployment::open(compile(program_, Target{}).value()).value();
  const Array one(Type::tensor(DType::f32, {}));
  EXPECT_THAT(Steps(devices, {}).set(9, one).reason(),
              HasSubstr("there is no argument 9: the program has 2"));
  Steps steps(devices, {{.argument = 0, .result = 9}});
  steps.begin({one, one}).value();
  EXPECT_THAT(steps.take().reason(), HasSubstr("result 9 is to become argument 0"));
}

TEST_F(StepLoopTest, TakesABatchForEveryStepAndKeepsTheNumbers) {
  options_.steps = 4;
  StepsDone done;
  EXPECT_EQ(run(&done), 1 + 2 + 3 + 4);
  EXPECT_EQ(done.first, 1);
  EXPECT_EQ(done.last, 4);
  EXPECT_EQ(done.batches, 4);
  ASSERT_EQ(done.history.size(), 4U);
  EXPECT_EQ(done.history[2], std::make_pair(std::int64_t{3}, std::vector<double>{6}));
  EXPECT_THAT(said_[0], HasSubstr("takes a new batch every step, of 4"));
}

TEST_F(StepLoopTest, GoesOnFromTheNewestCheckpoint) {
  options_.steps = 3;
  options_.save = {.prefix = (folder_ / "run/step").string(), .every = 2, .keep = 0};
  EXPECT_EQ(run(), 6);
  EXPECT_TRUE(fs::exists(folder_ / "run/step-2"));
  options_.save = {};
  options_.restore = (folder_ / "run").string();
  options_.steps = 0;  // one more
  StepsDone done;
  EXPECT_EQ(run(&done), 10);
  EXPECT_EQ(done.first, 4);
  EXPECT_THAT(done.restored, HasSubstr("step-3"));
}

TEST_F(StepLoopTest, FindsTooFewBatchesBeforeTheFirstStep) {
  options_.steps = 5;
  try {
    run();
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("begin again after the last with `cycle`"));
  }
  options_.cycle = true;
  EXPECT_EQ(run(), 1 + 2 + 3 + 4 + 1);
}

TEST_F(StepLoopTest, RefusesBatchesOfWhatIsCarried) {
  options_.steps = 2;
  options_.batches = {"arg0=" + (folder_ / "batches").string()};
  EXPECT_THROW(run(), Error);
}

TEST(Engines, AgreeAndHaveNames) {
  EXPECT_EQ(name(parse_engine("kernels").value()), "kernels");
  EXPECT_THAT(parse_engine("gpu").reason(), HasSubstr("compiled, kernels, interpreter"));
  const Program program = read(kStep);
  const std::vector<Array> arguments = arguments_for(program);
  std::vector<std::vector<Array>> results;
  for (const Engine engine : {Engine::compiled, Engine::kernels, Engine::interpreter}) {
    const ExecuteOptions how{.engine = engine, .repeat = 2};
    Deployed deployed = deploy(program, *program.find_function("main"), {}, how).value();
    const Execution done = execute(deployed, arguments, how).value();
    EXPECT_EQ(done.seconds.size(), 2U);
    results.push_back(done.results);
  }
  EXPECT_THAT(results, ElementsAre(results[0], results[0], results[0]));
}

}  // namespace
}  // namespace heddle::step_loop_tests
