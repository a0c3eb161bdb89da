#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "compiled.h"
#include "heddle/run_report.h"

namespace heddle {
namespace {

using testing::HasSubstr;

const char* const kSum = R"(
  func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "loss"}) {
    %0 = stablehlo.add %a, %a : tensor<2xf32>
    return %0 : tensor<2xf32>
  })";

RunReport run_of(const Program& program, float first) {
  const Function& main = *program.find_function("main");
  Deployed deployed = deploy(program, main, {}, {.engine = Engine::interpreter}).value();
  Array argument(Type::tensor(DType::f32, {2}));
  argument.as_mutable<float>()[0] = first;
  argument.as_mutable<float>()[1] = 1;
  FunctionRun run(program, main);
  run.execution = execute(deployed, {argument}, {.repeat = 3}).value();
  RunReport report{.file = "test.mlir"};
  report.functions.push_back(std::move(run));
  return report;
}

TEST(RunReport, ShowsFewElementsThemselves) {
  const Program program = read(kSum);
  const RunReport report = run_of(program, 3);
  EXPECT_THAT(report.text(), HasSubstr("loss    tensor<2xf32>  [6, 2]"));
  EXPECT_THAT(report.verdict(), HasSubstr("the median of 3 runs"));
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["functions"][0]["results"][0]["values"], nlohmann::json({6, 2}));
}

TEST(RunReport, TheResultThatIsFurthestOffIsNamed) {
  const Program program = read(kSum);
  RunReport report = run_of(program, 3);
  FunctionRun& run = report.functions[0];
  EXPECT_EQ(run.disagreement(), "");
  run.comparisons = {compare_arrays(run.execution.results[0], Array(run.types[0]), {})};
  EXPECT_THAT(run.disagreement(), HasSubstr("result 0 (loss) tensor<2xf32>: "));
}

}  // namespace
}  // namespace heddle
