#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "compiled.h"
#include "heddle/plan_report.h"

namespace heddle {
namespace {

using testing::HasSubstr;
using testing::Not;

Spmd product_on_mesh() {
  const Program program = read(R"(
    func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> {
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
      return %y : tensor<8x32xf32>
    })");
  return distribute(program, mesh_target("dp=2,tp=2", {"arg0=dp,tp", "arg1=tp,_"}).value()).value();
}

TEST(PlanReport, SaysWhatLiesWhereAndWhatIsMoved) {
  const PlanReport report = plan_report(product_on_mesh());
  ASSERT_EQ(report.functions.size(), 1U);
  const PlannedFunction& main = report.functions[0];
  EXPECT_EQ(main.mesh, "dp=2,tp=2");
  EXPECT_EQ(main.arguments[0].sharding, R"([{"dp"}, {"tp"}])");
  EXPECT_EQ(main.arguments[0].part, "tensor<4x8xf32>");
  EXPECT_FALSE(main.moved.empty());
  EXPECT_TRUE(main.drawn.empty());
  EXPECT_THAT(report.text(), HasSubstr("@main on 4 devices (dp=2,tp=2)\n  arg0 "));
  EXPECT_THAT(report.text(), Not(HasSubstr("rather than")));
}

TEST(PlanReport, ExplainsWithPicturesAndWhatWasRejected) {
  const PlanReport report = plan_report(product_on_mesh(), {.memory = {}, .explain = true});
  EXPECT_EQ(report.functions[0].drawn[0].names, "arg0");
  EXPECT_FALSE(report.functions[0].choices.empty());
  EXPECT_THAT(report.text(), HasSubstr("rather than"));
  EXPECT_THAT(report.text(), HasSubstr("position on dp,tp"));
  EXPECT_THAT(report.svg(report.functions[0].drawn[0]), HasSubstr("<svg"));
}

TEST(PlanReport, TooLittleMemoryIsAFailureOfTheReport) {
  const Spmd spmd = product_on_mesh();
  EXPECT_EQ(plan_report(spmd, {.memory = 1'000'000}).failure, "");
  const PlanReport report = plan_report(spmd, {.memory = 100});
  EXPECT_THAT(report.failure, HasSubstr("each has 100 B"));
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["error"], report.failure);
  EXPECT_EQ(json["functions"][0]["memory"]["bytes"], report.functions[0].memory->needed());
}

TEST(PlanReport, AFunctionOnOneDeviceSaysSo) {
  const Program program =
      read("func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }");
  const PlanReport report = plan_report(program, {.mesh = kOwnMesh}).value();
  EXPECT_THAT(report.text(), HasSubstr("@main on one device"));
}

}  // namespace
}  // namespace heddle
