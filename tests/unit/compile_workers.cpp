// Plans hold for machines of every size: what kernels move and how many launches they take hardly
// depends on the number of workers. Counts only; nothing runs here.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiled.h"
#include "heddle/compile.h"
#include "heddle/cost.h"
#include "whole_graphs.h"

namespace heddle {
namespace {

constexpr int kWorkers[] = {1, 2, 4, 16, 64, 192};
constexpr double kMostBytes = 1.10, kMostLaunches = 1.25;

struct Counts {
  int workers = 0;
  double launches = 0, bytes = 0;
};

Counts counts_for(const Program& program, int workers) {
  CompileOptions options;
  options.machine_code = false;
  options.machine = default_figures(workers);
  const Executable executable = compile(program, options).value();
  Counts counts{.workers = workers};
  for (const StepInfo& step : executable.steps())
    if (step.kind == "kernel") {
      ++counts.launches;
      counts.bytes += static_cast<double>(step.bytes_read + step.bytes_written);
    }
  return counts;
}

void expect_even(const Program& program) {
  std::vector<Counts> all;
  for (int workers : kWorkers) all.push_back(counts_for(program, workers));
  double launches = all[0].launches, bytes = all[0].bytes;
  for (const Counts& c : all) {
    launches = std::min(launches, c.launches);
    bytes = std::min(bytes, c.bytes);
  }
  for (const Counts& c : all) {
    EXPECT_LE(c.bytes, kMostBytes * bytes) << "with " << c.workers << " workers";
    EXPECT_LE(c.launches, kMostLaunches * launches)
        << "with " << c.workers << " workers; the fewest launches are " << launches;
  }
}

struct Graph {
  const char* name;
  Program (*build)();
};

class Workers : public testing::TestWithParam<Graph> {};

TEST_P(Workers, HardlyChangeThePlan) { expect_even(GetParam().build()); }

INSTANTIATE_TEST_SUITE_P(
    Whole, Workers,
    testing::Values(Graph{"Adam", graphs::adam_like}, Graph{"Lamb", graphs::lamb_like},
                    Graph{"Bert", graphs::bert_like},
                    Graph{"Transformer", graphs::transformer_like},
                    Graph{"Dien", graphs::dien_like}, Graph{"Asr", graphs::asr_like},
                    Graph{"Crnn", graphs::crnn_like}, Graph{"Resnet", graphs::resnet_step_like},
                    Graph{"Unet", graphs::unet_block_like},
                    Graph{"LanguageBack", graphs::language_back_like},
                    Graph{"Experts", graphs::experts_like}, Graph{"Water", graphs::water_like}),
    [](const auto& info) { return info.param.name; });

// Statistics of channels by chunks of rows, and all rows once more behind them.
TEST(Across, GivesWhatTheInterpreterGives) {
  const Shape shape = {32, 8, 16, 64};
  Builder b;
  const std::vector<Type> types = {graphs::f32(shape), graphs::f32(shape)};
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Var sum = b.reduce(in[0] * in[1], {0, 1, 2}, "add");
    const Var most = b.reduce(in[0], {0, 1, 2}, "maximum");
    const Var y = in[1] - b.broadcast(sum, shape, {3});
    return {y, sum, b.op("maximum", {in[0] + b.broadcast(most, shape, {3}), y})};
  });
  const Program program = b.finish().value();
  for (int workers : {2, 16, 192}) {
    CompileOptions options;
    options.machine = default_figures(workers);
    options.machine->light_rate = 1e9;  // so slow that everybody is worth waking
    SCOPED_TRACE(workers);
    expect_same(program, arguments_for(program), options);
    options.machine_code = false;
    expect_same(program, arguments_for(program), options);
  }
}

}  // namespace
}  // namespace heddle
