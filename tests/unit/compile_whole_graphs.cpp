// Whole models: how few launches they become, and how few bytes those move, beside every op by
// itself. Nothing runs here; that results are right is shown elsewhere.
#include <gtest/gtest.h>

#include "heddle/compile.h"
#include "heddle/cost.h"
#include "whole_graphs.h"

namespace heddle {
namespace {

using namespace graphs;

struct Cost {
  std::size_t launches = 0;
  double bytes = 0;
};

Cost cost_of(const Program& program, bool fuse) {
  CompileOptions options;
  options.machine_code = false;
  options.machine = MachineFigures{};
  options.machine = default_figures(2);
  options.stitch.fuse = fuse;
  const Executable executable = compile(program, options).value();
  Cost cost;
  for (const StepInfo& step : executable.steps())
    if (step.kind == "kernel") {
      cost.launches += fuse ? 1 : step.kernels;  // every op by itself is a launch of its own
      cost.bytes += static_cast<double>(step.bytes_read + step.bytes_written);
    } else {
      EXPECT_TRUE(step.kind == "library") << step.kind << " " << step.name;
    }
  return cost;
}

struct Fractions {
  double launches = 1, bytes = 1;  // of what every op by itself would take
  std::size_t fused = 0;
};

Fractions fractions(const Program& program) {
  const Cost fused = cost_of(program, true), apart = cost_of(program, false);
  return {static_cast<double>(fused.launches) / static_cast<double>(apart.launches),
          fused.bytes / apart.bytes, fused.launches};
}

TEST(WholeGraphs, AdamOverAHundredTensorsIsAtMostTwoLaunches) {
  EXPECT_LE(fractions(adam_like()).fused, 2U);
}

TEST(WholeGraphs, LambOverSixtyTensorsIsAtMostThreeLaunches) {
  const Fractions got = fractions(lamb_like());
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.fused, 3U);
  EXPECT_LE(got.bytes, 0.25);
}

TEST(WholeGraphs, BertLike) {
  const Fractions got = fractions(bert_like());
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.25);
}

TEST(WholeGraphs, TransformerLike) {
  const Fractions got = fractions(transformer_like());
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.25);
}

TEST(WholeGraphs, DienLike) {
  const Fractions got = fractions(dien_like());
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.3);
}

TEST(WholeGraphs, AsrLike) {
  const Fractions got = fractions(asr_like());
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.3);
}

TEST(WholeGraphs, CrnnLike) {
  const Fractions got = fractions(crnn_like());
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.3);
}

}  // namespace
}  // namespace heddle
