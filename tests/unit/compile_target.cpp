// compile(Program, Target): one pipeline for one device and for many, and the placement of what it
// gives.
#include <gmock/gmock.h>

#include <thread>

#include "compile/figures.h"
#include "compiled.h"
#include "heddle/carry.h"
#include "heddle/deployment.h"
#include "heddle/inputs.h"
#include "heddle/signature.h"
#include "heddle/steps.h"
#include "heddle/target.h"
#include "heddle/thread_pool.h"

namespace heddle {
namespace {

using testing::HasSubstr;

// One step of gradient descent on rows that do not divide by two.
const char* const kStep = R"(
  func.func @main(%w: tensor<4x3xf32>, %x: tensor<7x4xf32>) -> (tensor<f32>, tensor<4x3xf32>) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<7x4xf32>, tensor<4x3xf32>) -> tensor<7x3xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<7x3xf32>, tensor<f32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %n = stablehlo.subtract %w, %b : tensor<4x3xf32>
    return %s, %n : tensor<f32>, tensor<4x3xf32>
  })";

Target on_two() { return mesh_target("dp=2", {"arg1=dp,_"}).value(); }

// Small whole numbers, so that sums are exact in any order.
std::vector<Array> interpreted(const Program& program, const std::vector<Array>& arguments) {
  return interpret(program, *program.find_function("main"), arguments).value();
}

TEST(Target, AMeshOfThreadsGivesWhatOneDeviceGives) {
  const Program program = read(kStep);
  const std::vector<Array> arguments = arguments_for(program);
  const Executable executable = compile(program, on_two()).value();
  const Placement& placement = executable.placement();
  ASSERT_TRUE(placement.on_mesh());
  EXPECT_EQ(placement.devices(), 2);
  EXPECT_EQ(placement.arguments[1].type().str(), "tensor<7x4xf32>");
  EXPECT_EQ(placement.arguments[1].part_type().str(), "tensor<4x4xf32>");
  EXPECT_EQ(placement.arguments[0].part_type().str(), "tensor<4x3xf32>");
  EXPECT_EQ(placement.argument_bytes(), 4 * (12 + 16));
  Deployment devices = Deployment::open(executable).value();
  EXPECT_EQ(devices.run_whole(arguments).value(), interpreted(program, arguments));
}

TEST(Target, OneDeviceIsADeploymentToo) {
  const Program program = read(kStep);
  const std::vector<Array> arguments = arguments_for(program);
  const Executable executable = compile(program).value();
  EXPECT_FALSE(executable.placement().on_mesh());
  EXPECT_EQ(executable.placement().devices(), 1);
  Deployment device = Deployment::open(executable).value();
  EXPECT_EQ(device.run_whole(arguments).value(), interpreted(program, arguments));
}

TEST(Target, RanksEachHaveTheirPartAndAllGetTheWhole) {
  const Program program = read(kStep);
  const std::vector<Array> arguments = arguments_for(program);
  Target target = on_two();
  target.ranks = true;
  const Executable executable = compile(program, target).value();
  auto transports = thread_transports(2);
  std::vector<std::vector<Array>> results(2);
  std::vector<std::thread> ranks;
  for (std::size_t r = 0; r < 2; ++r)
    ranks.emplace_back([&, r] {
      Deployment rank = Deployment::open(executable, {.ranks = transports[r].get()}).value();
      EXPECT_EQ(rank.here(), 1U);
      EXPECT_EQ(rank.device(0), static_cast<std::int64_t>(r));
      results[r] = rank.run_whole(arguments).value();
    });
  for (std::thread& rank : ranks) rank.join();
  for (const auto& of_rank : results) EXPECT_EQ(of_rank, interpreted(program, arguments));
}

TEST(Target, StepsCarryResultsAndCheckpointsGoOnAnywhere) {
  const Program program = read(kStep);
  std::vector<Array> arguments = arguments_for(program);
  const CarryPlan carry = parse_carry(program, program.functions[0], {"arg0=result1"}).value();
  Target target = on_two();
  target.carried = carry.pairs;
  Deployment devices = Deployment::open(compile(program, target).value()).value();
  Steps steps(devices, carry.pairs);
  ASSERT_TRUE(steps.begin(arguments));
  ASSERT_TRUE(steps.can_be_saved());
  const std::filesystem::path folder = testing::TempDir() + "heddle-target-step-2";
  std::filesystem::remove_all(folder);
  std::vector<Array> wanted = arguments;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(steps.take());
    wanted[0] = interpreted(program, wanted)[1];
  }
  EXPECT_EQ(steps.whole(1).value(), wanted[0]);
  ASSERT_TRUE(steps.save(folder.string(), 2));

  Deployment one = Deployment::open(compile(program).value()).value();
  Steps others(one, carry.pairs);
  ASSERT_TRUE(others.set(1, arguments[1]));
  ASSERT_TRUE(others.restore(0, Checkpoint::open(folder).value()));
  ASSERT_TRUE(others.take());
  EXPECT_EQ(others.wholes().value(), interpreted(program, wanted));
  std::filesystem::remove_all(folder);
}

// What a device computes as it is stays whole on its way there, on a mesh as on one device.
TEST(Target, LoweringIsOnePolicy) {
  const Program program = read(R"(
    func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x3xf32>, tensor<4x3xi32>) {
      %e = chlo.erf %x : tensor<4x8xf32> -> tensor<4x8xf32>
      %l = chlo.erf_inv %x : tensor<4x8xf32> -> tensor<4x8xf32>
      %a = stablehlo.add %e, %l : tensor<4x8xf32>
      %v, %i = chlo.top_k(%x, k = 3) : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
      return %a, %v, %i : tensor<4x8xf32>, tensor<4x3xf32>, tensor<4x3xi32>
    })");
  const auto client_ops = [&](const std::string& mesh) {
    std::vector<std::string> names;
    Target target;
    target.mesh = mesh;
    if (!mesh.empty()) target.layouts.shards = {shard_entry("arg0=dp,_").value()};
    target.options.machine_code = false;
    target.options.on_program = [&](std::string_view stage, const Program& p) {
      if (stage != "simplify") return;
      for (const OpId id : p.region(p.functions[0].body).ops)
        if (p.op(id).def->name.starts_with("chlo.")) names.emplace_back(p.op(id).def->name);
    };
    EXPECT_TRUE(compile(program, target));
    return names;
  };
  EXPECT_EQ(client_ops(""), (std::vector<std::string>{"chlo.erf", "chlo.top_k"}));
  EXPECT_EQ(client_ops("dp=2"), client_ops(""));
}

TEST(Target, EveryStageIsSeenOnce) {
  const Program program = read(kStep);
  std::vector<std::string> stages;
  Target target = on_two();
  CompileReport report;
  target.options.report = &report;
  ASSERT_TRUE(compile(program, target));
  for (const auto& stage : report.stages) stages.push_back(stage.name);
  EXPECT_EQ(stages,
            (std::vector<std::string>{"verify", "inline", "client", "spmd", "schedule", "lower",
                                      "simplify", "stitch", "kernels", "code", "memory"}));
}

TEST(Target, OwnMesh) {
  const Program program = read(R"(
    sdy.mesh @own = <["x"=2]>
    func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@own, [{"x"}]>}) -> tensor<4xf32> {
      %0 = stablehlo.negate %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    })");
  EXPECT_FALSE(compile(program).value().placement().on_mesh());
  for (const char* mesh : {"@", "@own"}) {
    const Executable executable = compile(program, Target{.mesh = mesh}).value();
    EXPECT_EQ(executable.placement().mesh().name, "own");
    EXPECT_EQ(executable.placement().results[0].part_type().str(), "tensor<2xf32>");
  }
  // Where nothing names one, there is one device.
  EXPECT_FALSE(compile(read(kStep), Target{.mesh = kOwnMesh}).value().placement().on_mesh());
}

// ---- figures

TEST(Target, PlansAreForThisMachineAndThreadsShareIt) {
  Target target;
  const MachineFigures all = figures_for(target, 1), half = figures_for(target, 2);
  EXPECT_EQ(all.workers, ThreadPool::shared().threads());
  EXPECT_EQ(half.workers, std::max(1, all.workers / 2));
  EXPECT_LE(half.copy_rate, all.copy_rate);
  target.ranks = true;
  EXPECT_EQ(figures_for(target, 2).workers, all.workers);
  target.options.machine = MachineFigures{.workers = 7};
  EXPECT_EQ(figures_for(target, 1).workers, 7);
}

// ---- wrong uses

std::string why_not(const std::string& mesh, const std::vector<std::string>& shards) {
  const auto target = mesh_target(mesh, shards);
  if (!target) return target.reason();
  const auto executable = compile(read(kStep), *target);
  if (!executable) return executable.reason();
  const auto deployment = Deployment::open(*executable);
  return deployment ? "" : deployment.reason();
}

TEST(Target, WrongUses) {
  EXPECT_THAT(why_not("dp=2", {"arg1=tp,_"}), HasSubstr("tp"));
  EXPECT_THAT(why_not("dp=2", {"arg9=dp,_"}), HasSubstr("called arg9; it has 2 arguments"));
  EXPECT_THAT(why_not("dp=2", {"arg1"}), HasSubstr("write NAME=SHARDING"));
  EXPECT_THAT(why_not("dp=2", {"arg1=dp"}), HasSubstr("1 dimension and tensor<7x4xf32> has 2"));
  EXPECT_THAT(why_not("@", {"arg1=dp,_"}), HasSubstr("shard needs a mesh"));
  EXPECT_THAT(why_not("@none", {}), HasSubstr("has no mesh @none"));
  EXPECT_THAT(why_not("dp=0", {}), HasSubstr("dp"));
  EXPECT_THAT(why_not("dp=2048", {}), HasSubstr("2048 devices are more than threads"));
}

TEST(Target, WrongArrays) {
  const Program program = read(kStep);
  std::vector<Array> arguments = arguments_for(program);
  Deployment devices = Deployment::open(compile(program, on_two()).value()).value();
  EXPECT_THAT(devices.run_whole({arguments[0]}).reason(), HasSubstr("takes 2 arguments"));
  std::swap(arguments[0], arguments[1]);
  EXPECT_THAT(devices.run_whole(arguments).reason(),
              HasSubstr("argument 0 is tensor<4x3xf32>, and an array of tensor<7x4xf32>"));
  const PlacedValue& x = devices.placement().arguments[1];
  EXPECT_THAT(x.whole({arguments[0]}).reason(), HasSubstr("each of 2 devices, and 1 were given"));
  EXPECT_THAT(x.whole(arguments).reason(), HasSubstr("tensor<4x4xf32> on each device"));
  EXPECT_THAT(x.part_of(arguments[0], 2).reason(), HasSubstr("no device 2"));
}

TEST(Target, TooFewRanks) {
  Target target = on_two();
  target.ranks = true;
  const Executable executable = compile(read(kStep), target).value();
  auto transports = thread_transports(3);
  EXPECT_THAT(Deployment::open(executable, {.ranks = transports[0].get()}).reason(),
              HasSubstr("mesh dp=2 has 2 devices, but 3 ranks were started"));
}

TEST(Target, MemoryIsOfAllDevicesTogether) {
  Target target = on_two();
  target.options.memory_limit = 100;
  EXPECT_THAT(compile(read(kStep), target).reason(), HasSubstr("each may have 50 B"));
}

TEST(Target, APendingSumHasNoWhole) {
  const Program program = read(R"(
    sdy.mesh @m = <["x"=2]>
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{}], unreduced={"x"}>}) {
      return %x : tensor<4xf32>
    })");
  const auto executable = compile(program, Target{.mesh = "@m"});
  if (!executable) GTEST_SKIP() << executable.reason();
  EXPECT_THAT(executable->placement().has_wholes().reason(), HasSubstr("result 0 is unreduced"));
}

}  // namespace
}  // namespace heddle
