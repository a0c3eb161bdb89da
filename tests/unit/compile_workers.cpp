// Plans hold for machines of every size: what kernels move and how many launches they take hardly
// depends on the number of workers. Counts only; nothing runs here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "compiled.h"
#include "heddle/compile.h"
#include "heddle/cost.h"
#include "whole_graphs_more.h"

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

// "12 launches 3.4 MB" for each number of workers.
std::string text_of(const std::vector<Counts>& all) {
  std::string text;
  for (const Counts& c : all)
    text += fmt::format("{}: {} launches {:.4f} MB; ", c.workers, c.launches, c.bytes / 1e6);
  return text;
}

void expect_even(const std::string& name, const Program& program) {
  std::vector<Counts> all;
  for (int workers : kWorkers) all.push_back(counts_for(program, workers));
  testing::Test::RecordProperty(name, text_of(all));
  double launches = all[0].launches, bytes = all[0].bytes;
  for (const Counts& c : all) {
    launches = std::min(launches, c.launches);
    bytes = std::min(bytes, c.bytes);
  }
  for (const Counts& c : all) {
    EXPECT_LE(c.bytes, kMostBytes * bytes) << name << " with " << c.workers << " workers";
    EXPECT_LE(c.launches, kMostLaunches * launches) << name << " with " << c.workers << " workers";
  }
}

struct Graph {
  const char* name;
  Program (*build)();
};

class Workers : public testing::TestWithParam<Graph> {};

TEST_P(Workers, HardlyChangeThePlan) { expect_even(GetParam().name, GetParam().build()); }

INSTANTIATE_TEST_SUITE_P(
    Whole, Workers,
    testing::Values(Graph{"Adam", graphs::adam_like}, Graph{"Lamb", graphs::lamb_like},
                    Graph{"Bert", graphs::bert_like},
                    Graph{"Transformer", graphs::transformer_like},
                    Graph{"Dien", graphs::dien_like}, Graph{"Asr", graphs::asr_like},
                    Graph{"Crnn", graphs::crnn_like}, Graph{"Resnet", graphs::resnet_step_like},
                    Graph{"Unet", graphs::unet_block_like},
                    Graph{"LanguageBack", graphs::language_back_like},
                    Graph{"Experts", graphs::experts_like}, Graph{"Water", graphs::water_like},
                    Graph{"LambStep", graphs::lamb_step_like}, Graph{"Gas", graphs::gas_like},
                    Graph{"Scan", graphs::scan_like}, Graph{"Variance", graphs::variance_like}),
    [](const auto& info) { return info.param.name; });

// Updates that nobody waits for join launches that are there anyway: as many as the longest chain
// of kernels has, with any number of workers.
TEST(Launches, AreNoMoreThanTheLongestChainOfKernels) {
  constexpr std::size_t kLayers = 6;
  const Type square = graphs::f32({256, 256});
  Builder b;
  b.function("main", std::vector<Type>(1 + 2 * kLayers, square), [&](const Vars& in) -> Vars {
    Var x = in[0];
    Vars out;
    for (std::size_t k = 0; k < kLayers; ++k) {
      // A product of a product: a call more on the way than kernels, and an update beside it.
      const Var y = b.dot(x, in[1 + 2 * k]);
      out.push_back(in[1 + 2 * k] - 0.1 * y);
      x = b.op("tanh", {b.dot(y, in[2 + 2 * k])});
    }
    out.push_back(x);
    return out;
  });
  const Program program = b.finish().value();
  for (int workers : kWorkers) EXPECT_EQ(counts_for(program, workers).launches, kLayers) << workers;
}

// Recorded programs beside the checkout, where they are there.
std::filesystem::path recorded_programs() {
  for (auto folder = std::filesystem::current_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (std::filesystem::exists(folder / "shared" / "programs"))
      return folder / "shared" / "programs";
  return {};
}

TEST(RecordedPrograms, HardlyChangeWithTheNumberOfWorkers) {
  const std::filesystem::path folder = recorded_programs();
  if (folder.empty()) GTEST_SKIP() << "there is no folder shared/programs above this one";
  // Those that compile in a moment; bench/compile/workers.py has them all.
  constexpr std::uintmax_t kMostBytes = 100'000;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".mlir" && file.file_size() < kMostBytes)
      expect_even(file.path().stem().string(), read_stablehlo_file(file.path().string()).value());
}

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
