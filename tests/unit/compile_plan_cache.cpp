// Plans on disk: found again as they were, for what they were made for and nothing else.
#include <fstream>
#include <set>

#include "base/build_id.h"
#include "compile.h"
#include "compile/plan_bytes.h"
#include "compile/plan_cache.h"
#include "compiled.h"
#include "heddle/op.h"
#include "test_folder.h"

namespace heddle {
namespace {

constexpr int kLayers = 12;

// Layers of a product, which reads its operand transposed, and a norm; the last ones in a loop.
Program layered(const std::string& factor = "0.5") {
  std::string text = fmt::format(R"(
func.func @main(%x0: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<{}> : tensor<64x64xf32>
  %wt = stablehlo.transpose %w, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
)",
                                 factor);
  const auto layer = [](const std::string& from, const std::string& to) {
    return fmt::format(R"(
  %{1}a = stablehlo.dot_general %{0}, %wt, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %{1}b = stablehlo.multiply %{1}a, %half : tensor<64x64xf32>
  %{1}c = stablehlo.reduce(%{1}b init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %{1}d = stablehlo.broadcast_in_dim %{1}c, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %{1}e = stablehlo.subtract %{1}b, %{1}d : tensor<64x64xf32>
  %{1} = stablehlo.minimum %{1}e, %half : tensor<64x64xf32>
)",
                       from, to);
  };
  for (int i = 0; i < kLayers; ++i) text += layer(fmt::format("x{}", i), fmt::format("x{}", i + 1));
  text += fmt::format(R"(
  %n = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %most = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %n, %y = %x{}) : tensor<i32>, tensor<64x64xf32>
   cond {{
    %more = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %one : tensor<i32>
    {}
    stablehlo.return %j, %z : tensor<i32>, tensor<64x64xf32>
  }}
  return %r#1 : tensor<64x64xf32>
}}
)",
                      kLayers, layer("y", "z"));
  return read(text);
}

runtime::CompiledProgram unplanned(Program program) {
  runtime::CompiledProgram compiled;
  compiled.program = std::move(program);
  compiled.device = &default_device();
  return compiled;
}

StitchOptions options_of(const runtime::CompiledProgram& compiled) {
  StitchOptions options;
  options.calls = compiled.device;
  return options;
}

runtime::CompiledProgram planned(const Program& program) {
  runtime::CompiledProgram compiled = unplanned(program);
  EXPECT_TRUE(stitch_regions(compiled, compiled.entry().body, options_of(compiled)));
  CompileOptions without_code;
  without_code.machine_code = false;
  EXPECT_TRUE(make_kernels(compiled, without_code, {}, [] {}));
  return compiled;
}

std::string bytes_of(const runtime::CompiledProgram& compiled) {
  ByteWriter bytes;
  write_units(compiled, bytes);
  return bytes.take();
}

std::string key_of(const runtime::CompiledProgram& compiled) {
  return PlanCache::key_of(compiled, options_of(compiled)).value();
}

TEST(PlanCache, APlanIsFoundAgainAsItWas) {
  const TestFolder folder;
  const PlanCache cache(folder / "cache");
  const auto first = planned(layered());
  auto again = unplanned(layered());
  EXPECT_FALSE(cache.find(key_of(again), again));
  cache.keep(key_of(first), first);
  ASSERT_TRUE(cache.find(key_of(again), again));
  ASSERT_EQ(again.regions.size(), first.regions.size());
  EXPECT_GE(again.regions.size(), 2U);  // those of the loop too
  // What is left out of a plan, kernels, is written from it: they are the same for the same values.
  CompileOptions without_code;
  without_code.machine_code = false;
  ASSERT_TRUE(make_kernels(again, without_code, {}, [] {}));
  EXPECT_EQ(bytes_of(again), bytes_of(first));
  std::vector<std::uint32_t> numbers;
  for (const auto& [region, units] : first.regions)
    for (std::size_t u = 0; u < units.size(); ++u)
      for (std::size_t k = 0; k < units[u].kernels.size(); ++k) {
        numbers.push_back(units[u].kernels[k].alike);
        const Kernel& a = units[u].kernels[k].kernel;
        const Kernel& b = again.regions.at(region)[u].kernels[k].kernel;
        EXPECT_EQ(print(a), print(b));
        for (std::size_t i = 0; i < a.buffers.size(); ++i)
          EXPECT_EQ(a.buffers[i].value, b.buffers[i].value);
      }
  const std::set<std::uint32_t> distinct(numbers.begin(), numbers.end());
  EXPECT_GE(numbers.size(), std::size_t{kLayers});
  EXPECT_LT(distinct.size(), numbers.size() / 2);  // the layers are alike
}

TEST(PlanCache, EverythingThatDecidesIsInTheKey) {
  const auto compiled = unplanned(layered());
  const std::string key = key_of(compiled);
  EXPECT_EQ(key_of(unplanned(layered())), key);
  EXPECT_NE(key.find(build_id()), std::string::npos);
  EXPECT_NE(key_of(unplanned(layered("0.25"))), key);
  const auto changed = [&](const std::function<void(StitchOptions&)>& change) {
    StitchOptions options = options_of(compiled);
    change(options);
    return PlanCache::key_of(compiled, options).value() != key;
  };
  EXPECT_FALSE(changed([](StitchOptions&) {}));
  EXPECT_TRUE(changed([](StitchOptions& o) { o.fuse = false; }));
  EXPECT_TRUE(changed([](StitchOptions& o) { o.machine.workers += 1; }));
  EXPECT_TRUE(changed([](StitchOptions& o) { o.machine.heavy_rate *= 2; }));
  EXPECT_TRUE(changed([](StitchOptions& o) { o.machine.sweeps = true; }));
}

TEST(PlanCache, SomePlansAreNotKept) {
  const auto compiled = unplanned(layered());
  StitchOptions options = options_of(compiled);
  options.explain = true;
  EXPECT_FALSE(PlanCache::key_of(compiled, options));
  options = options_of(compiled);
  options.calls = nullptr;  // nobody says what the answers follow from
  EXPECT_FALSE(PlanCache::key_of(compiled, options));
  const auto few = unplanned(read(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
})"));
  EXPECT_FALSE(PlanCache::key_of(few, options_of(few)));
}

TEST(PlanCache, DamagedFilesAreLeftAlone) {
  const TestFolder folder;
  const PlanCache cache(folder / "cache");
  const auto first = planned(layered());
  const std::string key = key_of(first);
  cache.keep(key, first);
  const auto file = std::filesystem::directory_iterator(folder / "cache")->path();
  std::ifstream stream(file, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(stream), {});
  auto again = unplanned(layered());
  for (const std::size_t at : {std::size_t{3}, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_FALSE(cache.find(key, again)) << at;
    std::ofstream(file, std::ios::binary) << whole.substr(0, at);
    EXPECT_FALSE(cache.find(key, again)) << at;
  }
  EXPECT_TRUE(again.regions.empty());
  std::ofstream(file, std::ios::binary) << whole;
  EXPECT_TRUE(cache.find(key, again));
}

// Whatever the bytes are: units of this program, or a reason.
TEST(PlanCache, NoBytesLeadOutOfTheProgram) {
  const auto first = planned(layered());
  const auto untouched = unplanned(layered());
  const std::string whole = bytes_of(first);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(0x7f);
    runtime::CompiledProgram compiled = untouched;
    if (!read_units(damaged, compiled)) {
      EXPECT_TRUE(compiled.regions.empty());
      continue;
    }
    for (const auto& [region, units] : compiled.regions) {
      EXPECT_LT(region, compiled.program.region_count());
      for (const auto& unit : units)
        for (const auto& kernel : unit.kernels)
          for (OpId op : kernel.group.ops) EXPECT_LT(op, compiled.program.op_count());
    }
  }
  auto compiled = unplanned(layered());
  EXPECT_FALSE(read_units(whole.substr(0, whole.size() / 2), compiled));
  EXPECT_FALSE(read_units(whole + "x", compiled));
}

}  // namespace
}  // namespace heddle
