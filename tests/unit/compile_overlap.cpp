// Collectives that are under way while other steps run.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "compiled.h"
#include "heddle/thread_mesh.h"
#include "heddle/trace.h"

namespace heddle {
namespace {

// A sum over two devices, and a product that does not need it, in this order.
Program sum_beside_product() {
  return read(R"(
  func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [0] :
        (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.add %0, %1 : tensor<64x64xf32>
    return %2, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  })");
}

std::vector<std::vector<Array>> arguments_of_ranks() {
  const Type type = Type::tensor(DType::f32, {64, 64});
  std::vector<std::vector<Array>> all;
  for (std::uint64_t r = 0; r < 2; ++r)
    all.push_back({small_numbers(type, 2 * r + 1), small_numbers(type, 2 * r + 2)});
  return all;
}

TEST(Overlap, OtherStepsRunWhileACollectiveIsUnderWay) {
  const Executable executable = compiled(sum_beside_product());
  ThreadMesh mesh(2);
  TraceRecorder trace;
  RunOptions options;
  options.trace = &trace;
  const auto arguments = arguments_of_ranks();
  const auto got = mesh.run(executable, arguments, options);
  ASSERT_TRUE(got) << got.reason();
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t i = 0; i < 64 * 64; ++i)
      ASSERT_EQ((*got)[r][0].as<float>()[i] - (*got)[r][1].as<float>()[i],
                arguments[0][0].as<float>()[i] + arguments[1][0].as<float>()[i]);
  // The product lies inside of the sum, on each of them.
  struct Span {
    double begin = 0, end = 0;
  };
  std::map<int, std::map<std::string, Span>> seen;  // by rank and kind of step
  const auto parsed = nlohmann::json::parse(trace.json());
  for (const auto& e : parsed["traceEvents"]) {
    if (e.value("ph", "") != "X") continue;
    const double begin = e["ts"].get<double>();
    seen[e["pid"].get<int>()][e["cat"].get<std::string>()] = {begin,
                                                              begin + e["dur"].get<double>()};
  }
  ASSERT_EQ(seen.size(), 2U);
  for (auto& [rank, spans] : seen) {
    EXPECT_LE(spans["collective"].begin, spans["library"].begin);
    EXPECT_GE(spans["collective"].end, spans["library"].end);
  }
}

// What it reads and writes keeps its memory until it has been waited for.
TEST(Overlap, MemoryIsKeptUntilTheWait) {
  const Program program = read(R"(
  func.func @main(%a: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<1024xf32> {
    %n = stablehlo.negate %a : tensor<1024xf32>
    %0 = "stablehlo.all_reduce"(%n) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<1024xf32>) -> tensor<1024xf32>
    %1 = "stablehlo.sort"(%b) <{dimension = 0 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %l = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<1024xf32>) -> tensor<1024xf32>
    %2 = "stablehlo.sort"(%1) <{dimension = 0 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %l = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<1024xf32>) -> tensor<1024xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<1024xf32>
    return %3 : tensor<1024xf32>
  })");
  const Executable executable = compiled(program);
  ThreadMesh mesh(2);
  const Type type = Type::tensor(DType::f32, {1024});
  const std::vector<std::vector<Array>> arguments = {
      {small_numbers(type, 1), small_numbers(type, 2)},
      {small_numbers(type, 3), small_numbers(type, 4)}};
  for (int turn = 0; turn < 20; ++turn) {
    const auto got = mesh.run(executable, arguments);
    ASSERT_TRUE(got) << got.reason();
    for (std::size_t r = 0; r < 2; ++r) {
      std::vector<float> falling(arguments[r][1].as<float>().begin(),
                                 arguments[r][1].as<float>().end());
      std::ranges::sort(falling, std::greater());
      for (std::size_t i = 0; i < 1024; ++i)
        ASSERT_EQ((*got)[r][0].as<float>()[i],
                  -arguments[0][0].as<float>()[i] - arguments[1][0].as<float>()[i] - falling[i]);
    }
  }
}

}  // namespace
}  // namespace heddle
