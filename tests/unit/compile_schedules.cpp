// The schedules of examples/schedules, run on thread devices, against one device; and the tuner.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "compiled.h"
#include "heddle/deployment.h"
#include "heddle/tune_schedule.h"

namespace heddle::schedule_run_tests {
namespace {

// In the tree that the tests were built in.
std::filesystem::path find_examples() {
  std::filesystem::path at = std::filesystem::current_path();
  while (!std::filesystem::exists(at / "examples/schedules") && at.has_relative_path())
    at = at.parent_path();
  return at / "examples/schedules";
}
const std::filesystem::path kExamples = find_examples();

std::string text_in(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The example with fewer rows and columns, for so many devices.
Program example(const std::string& name, int devices) {
  std::string text = text_in(kExamples / (name + ".mlir"));
  text = std::regex_replace(text, std::regex("\\b96x"), "24x");
  text = std::regex_replace(text, std::regex("x96x"), "x24x");
  text = std::regex_replace(text, std::regex("x64x"), "x16x");
  text = std::regex_replace(text, std::regex("tensor<64x"), "tensor<16x");
  text = std::regex_replace(text, std::regex("\"(dp|tp)\"=4"), fmt::format("\"$1\"={}", devices));
  return read(text);
}

Target on_own_mesh(bool machine_code) {
  Target target;
  target.mesh = kOwnMesh;
  target.options.machine_code = machine_code;
  target.options.machine = MachineFigures{};
  return target;
}

std::vector<Array> run_on_threads(const Program& program, const Target& target) {
  auto executable = compile(program, target);
  EXPECT_TRUE(executable) << (executable ? "" : executable.reason());
  if (!executable) return {};
  auto deployment = Deployment::open(*executable);
  EXPECT_TRUE(deployment) << (deployment ? "" : deployment.reason());
  auto results = deployment->run_whole(arguments_for(program));
  EXPECT_TRUE(results) << (results ? "" : results.reason());
  return results ? *results : std::vector<Array>{};
}

void expect_near(const std::vector<Array>& got, const std::vector<Array>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto a = got[i].as<float>(), b = wanted[i].as<float>();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k)
      ASSERT_NEAR(a[k], b[k], 1e-4 * std::max(1.0F, std::abs(b[k]))) << "result " << i;
  }
}

// "adam" with all files adam.*.schedule.
void expect_all_agree(const std::string& name, std::initializer_list<int> devices) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples))
    if (entry.path().filename().string().starts_with(name + ".") &&
        entry.path().extension() == ".schedule")
      files.push_back(entry.path());
  ASSERT_GE(files.size(), 2U);
  for (const int n : devices) {
    const Program program = example(name, n);
    Target target = on_own_mesh(n == 4);
    const std::vector<Array> wanted =
        interpret(program, *program.find_function("main"), arguments_for(program)).value();
    for (const auto& file : files) {
      SCOPED_TRACE(fmt::format("{} on {}", file.filename().string(), n));
      std::size_t steps = 0;
      target.schedule = read_schedule(file.string()).value();
      target.options.on_schedule = [&](const std::vector<StepTaken>& taken) {
        steps = taken.size();
      };
      expect_near(run_on_threads(program, target), wanted);
      EXPECT_EQ(steps, target.schedule->steps.size());
    }
  }
}

TEST(ExampleSchedules, Sgd) { expect_all_agree("sgd", {2, 3, 4, 8}); }
TEST(ExampleSchedules, Adam) { expect_all_agree("adam", {2, 3, 4, 8}); }
TEST(ExampleSchedules, Lamb) { expect_all_agree("lamb", {2, 3, 4, 8}); }
TEST(ExampleSchedules, Attention) { expect_all_agree("attention", {2, 3, 4, 8}); }
TEST(ExampleSchedules, Mlp) { expect_all_agree("mlp", {2, 3, 4, 8}); }
TEST(ExampleSchedules, Boundary) { expect_all_agree("boundary", {2}); }

// Slices would come to devices that have other ones.
TEST(ExampleSchedules, SlicesGoToTheirLikeOnly) {
  std::string text = text_in(kExamples / "boundary.mlir");
  text = std::regex_replace(text, std::regex("\\[\\[0, 2\\], \\[1, 3\\]\\]"), "[[0, 3], [1, 2]]");
  Target target = on_own_mesh(false);
  target.schedule = parse_schedule(
                        "rs, ag = split all_reduce.0 along 1\n"
                        "reorder add.0 collective_permute.0 under ag",
                        "s")
                        .value();
  const auto refused = compile(read(text), target);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.reason(), testing::HasSubstr("it sends slices to devices that have others"));
}

// In one chunk or several, and by itself: the same bits, in no more memory.
TEST(ExampleSchedules, AnOptimiserInsideOfTheCollectiveHasTheSameBits) {
  std::string text = text_in(kExamples / "adam.mlir");
  text = std::regex_replace(text, std::regex("\\b96x64"), "512x64");
  text = std::regex_replace(text, std::regex("x96x64"), "x512x64");
  text = std::regex_replace(text, std::regex("\"dp\"=4"), "\"dp\"=3");
  text = std::regex_replace(text, std::regex("512x"), "768x");
  const Program program = read(text);
  Target target = on_own_mesh(true);
  const std::string zero = text_in(kExamples / "adam.zero.schedule");
  target.schedule = parse_schedule(zero, "s").value();
  const Executable apart = compile(program, target).value();
  const std::vector<Array> wanted = run_on_threads(program, target);
  for (const std::string how : {"", " in 2", " in 4", " in 1000"}) {
    target.schedule = parse_schedule(zero + "\nfuse rs result0" + how, "s").value();
    const Executable fused = compile(program, target).value();
    EXPECT_LE(fused.peak_bytes(), apart.peak_bytes());
    const auto is_fused = [](const StepInfo& step) {
      return step.name.starts_with("all_reduce with") && step.note.ends_with("chunk by chunk");
    };
    // Elsewhere they stay apart.
    EXPECT_EQ(std::ranges::any_of(fused.steps(), is_fused), fused.in_host_memory());
    EXPECT_EQ(apart.steps().size() - fused.steps().size(), fused.in_host_memory() ? 2U : 0U);
    const std::vector<Array> got = run_on_threads(program, target);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(got[i].bytes(), wanted[i].bytes())) << how;
  }
}

// Sums in bf16 of parameters in f32; and slices that reach beyond the end, of five devices.
TEST(ExampleSchedules, MixedTypesAndRaggedSlicesGoInside) {
  for (const int devices : {2, 5}) {
    const Program program = read(fmt::format(R"(
      sdy.mesh @mesh = <["dp"={}]>
      func.func @main(%g: tensor<10x512x16xbf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"dp"}}, {{}}, {{}}]>}},
                      %p: tensor<512x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}})
          -> (tensor<512x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
        %zero = stablehlo.constant dense<0.0> : tensor<bf16>
        %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0]
            : (tensor<10x512x16xbf16>, tensor<bf16>) -> tensor<512x16xbf16>
        %w = stablehlo.convert %sum : (tensor<512x16xbf16>) -> tensor<512x16xf32>
        %p1 = stablehlo.subtract %p, %w : tensor<512x16xf32>
        return %p1 : tensor<512x16xf32>
      }})",
                                             devices));
    Target target = on_own_mesh(true);
    const std::string sliced = "rs, ag = split all_reduce.0 along 0\nreorder * under ag\n";
    target.schedule = parse_schedule(sliced, "s").value();
    const std::vector<Array> wanted = run_on_threads(program, target);
    target.schedule = parse_schedule(sliced + "fuse rs * in 2", "s").value();
    const Executable fused = compile(program, target).value();
    const bool is_fused = std::ranges::any_of(fused.steps(), [](const StepInfo& step) {
      return step.note.starts_with("computed inside of the collective");
    });
    EXPECT_EQ(is_fused, fused.in_host_memory());
    const std::vector<Array> got = run_on_threads(program, target);
    EXPECT_TRUE(std::ranges::equal(got[0].bytes(), wanted[0].bytes())) << devices;
  }
}

// Kernels expect what they are given to be aligned, and slices of so many elements are not.
TEST(ExampleSchedules, SlicesThatBeginAnywhereGoInside) {
  for (const char* how : {"", " in 2", " in 2 by ring", " by tree", " in 3"})
    for (const char* type : {"f16", "f32", "f64"}) {
      const Program program = read(fmt::format(R"(
        sdy.mesh @mesh = <["dp"=3]>
        func.func @main(%g: tensor<6x7350x{0}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"dp"}}, {{}}]>}},
                        %p: tensor<7350x{0}> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}})
            -> (tensor<7350x{0}> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}}) {{
          %zero = stablehlo.constant dense<0.0> : tensor<{0}>
          %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0]
              : (tensor<6x7350x{0}>, tensor<{0}>) -> tensor<7350x{0}>
          %p1 = stablehlo.subtract %p, %sum : tensor<7350x{0}>
          return %p1 : tensor<7350x{0}>
        }})",
                                               type));
      Target target = on_own_mesh(true);
      const std::string sliced = "rs, ag = split all_reduce.0 along 0\nreorder * under ag\n";
      target.schedule = parse_schedule(sliced, "s").value();
      const std::vector<Array> wanted = run_on_threads(program, target);
      target.schedule = parse_schedule(sliced + "fuse rs *" + how, "s").value();
      const std::vector<Array> got = run_on_threads(program, target);
      // Small whole numbers, whose sums are exact in any order.
      EXPECT_TRUE(std::ranges::equal(got[0].bytes(), wanted[0].bytes())) << how << ' ' << type;
    }
}

// What steps do in the programs of devices, where products are library calls: rows of several
// sizes, ragged ones, a left operand that lies transposed, and leading dimensions that are rows
// together.
TEST(ExampleSchedules, ProductsInsideOfCollectives) {
  const auto layer = [](const std::string& x, const std::string& w, const std::string& y,
                        const std::string& sums, const std::string& where_x,
                        const std::string& where_w, const std::string& where_y, int devices) {
    return read(fmt::format(R"(
      sdy.mesh @mesh = <["tp"={}]>
      func.func @main(%x: tensor<{}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{}]>}},
                      %w: tensor<{}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{}]>}})
          -> (tensor<{}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{}]>}}) {{
        %y = stablehlo.dot_general %x, %w, contracting_dims = [{}] x [0]
            : (tensor<{}xf32>, tensor<{}xf32>) -> tensor<{}xf32>
        return %y : tensor<{}xf32>
      }})",
                            devices, x, where_x, w, where_w, y, where_y, sums, x, w, y, y));
  };
  struct Case {
    Program program;
    std::string schedule;
  };
  for (const int devices : {2, 3}) {
    const Case cases[] = {
        {layer("192x96", "96x80", "192x80", "1", "{}, {\"tp\"}", "{\"tp\"}, {}", "{\"tp\"}, {}",
               devices),
         "fuse dot_general.0 reduce_scatter.0"},
        {layer("96x192", "96x80", "192x80", "0", "{\"tp\"}, {}", "{\"tp\"}, {}", "{\"tp\"}, {}",
               devices),
         "fuse dot_general.0 reduce_scatter.0"},
        {layer("6x40x96", "96x80", "6x40x80", "2", "{}, {}, {\"tp\"}", "{\"tp\"}, {}",
               "{\"tp\"}, {}, {}", devices),
         "fuse dot_general.0 reduce_scatter.0"},
        {layer("6x40x96", "96x78", "6x40x78", "2", "{\"tp\"}, {}, {}", "{}, {\"tp\"}",
               "{}, {}, {\"tp\"}", devices),
         "fuse all_gather.0 dot_general.0"},
        {layer("193x96", "96x80", "193x80", "1", "{}, {\"tp\"}", "{\"tp\"}, {}", "{}, {}", devices),
         "rs, ag = split all_reduce.0 along 0\nfuse dot_general.0 rs"}};
    for (const Case& c : cases)
      for (const char* how :
           {"", " in 5", " in 3 by ring lanes 2", " in 2 by tree through latency"}) {
        SCOPED_TRACE(fmt::format("{}{} on {}", c.schedule, how, devices));
        Target target = on_own_mesh(false);
        const std::vector<Array> wanted = run_on_threads(c.program, target);
        target.schedule = parse_schedule(c.schedule + how, "s").value();
        const Executable fused = compile(c.program, target).value();
        const bool is_fused = std::ranges::any_of(fused.steps(), [](const StepInfo& step) {
          return step.name.find("gemm") != std::string::npos &&
                 step.note == "computed inside of the collective, chunk by chunk";
        });
        EXPECT_EQ(is_fused, fused.in_host_memory());
        const std::vector<Array> got = run_on_threads(c.program, target);
        ASSERT_EQ(got.size(), wanted.size());
        const auto a = got[0].as<float>(), b = wanted[0].as<float>();
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-2);
      }
  }
}

// LAMB's norms are numbers of all devices: they are summed up inside, in the order of the ranks.
TEST(ExampleSchedules, ANormGoesInsideWithTheSameBits) {
  for (const int devices : {2, 3, 4, 8}) {
    const Program program = example("lamb", devices);
    Target target = on_own_mesh(devices == 4);
    const std::string zero = text_in(kExamples / "lamb.zero.schedule");
    target.schedule = parse_schedule(zero, "s").value();
    const std::vector<Array> wanted = run_on_threads(program, target);
    for (const std::string how : {"", " in 3", " by ring", " by tree"}) {
      SCOPED_TRACE(fmt::format("{} devices{}", devices, how));
      target.schedule = parse_schedule(zero + "\nfuse rs result0" + how, "s").value();
      const Executable fused = compile(program, target).value();
      const bool is_fused = std::ranges::any_of(fused.steps(), [](const StepInfo& step) {
        return step.note.starts_with("computed inside") &&
               step.note.ends_with("with the sum of its numbers");
      });
      EXPECT_EQ(is_fused, fused.in_host_memory());
      const std::vector<Array> got = run_on_threads(program, target);
      if (how.starts_with(" by")) {
        expect_near(got, wanted);
        continue;
      }
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_TRUE(std::ranges::equal(got[i].bytes(), wanted[i].bytes()));
    }
  }
}

// Numbers of one all_reduce go inside, and nothing that would make devices wait twice.
TEST(ExampleSchedules, WhatIsNoSingleNormStaysOutside) {
  const auto refusal = [](const std::string& between) {
    const Program program = read(fmt::format(R"(
      sdy.mesh @mesh = <["dp"=2]>
      func.func @main(%g: tensor<4x64x2048xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"dp"}}, {{}}, {{}}]>}})
          -> (tensor<64x2048xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %s = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0]
            : (tensor<4x64x2048xf32>, tensor<f32>) -> tensor<64x2048xf32>
        %q = stablehlo.multiply %s, %s : tensor<64x2048xf32>
        {}
        return %r : tensor<64x2048xf32>
      }})",
                                             between));
    Target target = on_own_mesh(false);
    target.schedule =
        parse_schedule("rs, ag = split all_reduce.0 along 0\nreorder * under ag\nfuse rs result0",
                       "s")
            .value();
    const auto made = compile(program, target);
    return made ? std::string() : made.reason();
  };
  EXPECT_THAT(refusal(R"(
        %n = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0]
            : (tensor<64x2048xf32>, tensor<f32>) -> tensor<2048xf32>
        %b = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<2048xf32>) -> tensor<64x2048xf32>
        %r = stablehlo.divide %s, %b : tensor<64x2048xf32>)"),
              testing::HasSubstr("sums up 8192 bytes, which are more than numbers of a norm"));
  EXPECT_THAT(refusal(R"(
        %n = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1]
            : (tensor<64x2048xf32>, tensor<f32>) -> tensor<f32>
        %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<64x2048xf32>
        %d = stablehlo.divide %s, %b : tensor<64x2048xf32>
        %e = stablehlo.multiply %d, %d : tensor<64x2048xf32>
        %m = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0, 1]
            : (tensor<64x2048xf32>, tensor<f32>) -> tensor<f32>
        %c = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<64x2048xf32>
        %r = stablehlo.divide %d, %c : tensor<64x2048xf32>)"),
              testing::HasSubstr("both sum up numbers"));
  EXPECT_THAT(refusal(R"(
        %t = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1]
            : (tensor<64x2048xf32>, tensor<f32>) -> tensor<64xf32>
        %c = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<64xf32>) -> tensor<64x2048xf32>
        %r = stablehlo.divide %s, %c : tensor<64x2048xf32>)"),
              testing::HasSubstr("is neither pointwise nor made of numbers"));
}

// State in slices takes its part of the memory.
TEST(ExampleSchedules, StateInSlicesTakesLess) {
  const Program program = example("adam", 4);
  Target target = on_own_mesh(false);
  const std::int64_t whole = compile(program, target).value().placement().argument_bytes();
  target.schedule = read_schedule((kExamples / "adam.zero.schedule").string()).value();
  const std::int64_t sliced = compile(program, target).value().placement().argument_bytes();
  EXPECT_EQ(whole - sliced, 2 * 24 * 16 * 4 * 3 / 4);
}

TEST(ExampleSchedules, AreForAMesh) {
  Target target;
  target.schedule = parse_schedule("dead x.0", "s").value();
  const auto one = compile(example("sgd", 4), target);
  ASSERT_FALSE(one);
  EXPECT_THAT(one.reason(), testing::HasSubstr("is for devices of a mesh"));
}

// The program as it is comes first, and stays unless something is faster.
TEST(TuneSchedule, TriesWhatIsLegalAndTakesNothingSlower) {
  const Program program = example("adam", 2);
  Target target = on_own_mesh(false);
  target.carried = {{1, 0}, {2, 1}, {3, 2}};
  const TunedSchedule tuned =
      tune_schedule(program, target, {.most_timed = 2, .keep = false}).value();
  ASSERT_GE(tuned.tried.size(), 4U);
  EXPECT_TRUE(tuned.tried[0].schedule.steps.empty());
  ASSERT_TRUE(tuned.tried[0].timed);
  if (tuned.taken != 0) {
    EXPECT_LT(*tuned.tried[tuned.taken].timed, *tuned.tried[0].timed);
  }
  target.schedule = tuned.schedule;
  expect_near(run_on_threads(program, target), run_on_threads(program, on_own_mesh(false)));
  for (const ScheduleTrial& trial : tuned.tried) EXPECT_EQ(trial.refused, "") << trial.name;
  EXPECT_NE(tuned.why, "");
  // What was best so far is tried with what follows inside.
  EXPECT_TRUE(std::ranges::any_of(tuned.tried, [](const ScheduleTrial& trial) {
    return trial.timed && trial.name.ends_with("fuse rs * through bandwidth");
  }));
}

}  // namespace
}  // namespace heddle::schedule_run_tests
