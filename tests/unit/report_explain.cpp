#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "compiled.h"
#include "heddle/explain_report.h"
#include "heddle/machine_report.h"
#include "heddle/program_report.h"

namespace heddle {
namespace {

using testing::HasSubstr;
using testing::Not;

ExplainReport two_steps() {
  ExplainReport report;
  report.execution.steps = {
      {.kind = "kernel", .name = "short", .op_count = 1, .bytes_read = 10, .kernels = 1},
      {.kind = "library", .name = "long", .op_count = 2, .from = {"a/model.py:57"}}};
  report.execution.times = {{.calls = 1, .seconds = 1e-3}, {.calls = 1, .seconds = 3e-3}};
  return report;
}

TEST(Explain, TheLongestStepIsFirstWithItsShareAndItsLine) {
  const std::string text = two_steps().text();
  EXPECT_LT(text.find("long"), text.find("short"));
  EXPECT_THAT(text, HasSubstr(" 75.0 %"));
  EXPECT_THAT(text, HasSubstr(" 25.0 %"));
  EXPECT_THAT(text, HasSubstr("from model.py:57\n"));
  EXPECT_THAT(text, HasSubstr("1 kernel, 1 library call; 0 B of memory at the peak"));
}

TEST(Explain, JsonKeepsTheOrderOfSteps) {
  const auto json = nlohmann::json::parse(two_steps().json());
  EXPECT_EQ(json["steps"][0]["name"], "short");
  EXPECT_EQ(json["steps"][1]["share"], 0.75);
  EXPECT_EQ(json["kernel_bytes"], 10);
}

TEST(Explain, OfAnExecutableWithoutTimes) {
  const Program program = read(R"(func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.exponential %a : tensor<8xf32>
      return %0 : tensor<8xf32> })");
  const ExplainReport report = explain(compile(program).value());
  EXPECT_EQ(report.counts(), "1 kernel");
  EXPECT_THAT(report.text(), HasSubstr("not run"));
  EXPECT_THAT(report.text(), Not(HasSubstr("compiled in")));
}

TEST(Explain, WhatIsInterpretedSaysWhy) {
  ExplainReport report;
  report.execution.interpreted_because = "of a reason";
  EXPECT_EQ(report.text(), "interpreted as a whole: of a reason\n");
}

TEST(Reports, OpsAndFiguresAreTextAndJson) {
  EXPECT_THAT(OpsReport().text(), HasSubstr("stablehlo.add "));
  EXPECT_GT(nlohmann::json::parse(OpsReport().json()).size(), 100U);
  const FiguresReport figures{MachineFigures{}};
  EXPECT_EQ(nlohmann::json::parse(figures.json())["workers"], figures.figures.workers);
}

}  // namespace
}  // namespace heddle
