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

struct Span {
  double begin = 0, end = 0;
};
using Spans = std::map<std::string, Span>;  // the last one by kind of step

// Runs it on two ranks; gives what each has done when.
std::map<int, Spans> traced(const Executable& executable,
                            const std::vector<std::vector<Array>>& arguments,
                            std::vector<std::vector<Array>>& results) {
  ThreadMesh mesh(2);
  TraceRecorder trace;
  RunOptions options;
  options.trace = &trace;
  auto got = mesh.run(executable, arguments, options);
  EXPECT_TRUE(got) << got.reason();
  results = *std::move(got);
  std::map<int, Spans> seen;
  const auto parsed = nlohmann::json::parse(trace.json());
  for (const auto& e : parsed["traceEvents"]) {
    if (e.value("ph", "") != "X") continue;
    const double begin = e["ts"].get<double>();
    seen[e["pid"].get<int>()][e["cat"].get<std::string>()] = {begin,
                                                              begin + e["dur"].get<double>()};
  }
  EXPECT_EQ(seen.size(), 2U);
  return seen;
}

void expect_inside(std::map<int, Spans>& seen, const std::string& kind) {
  for (auto& [rank, spans] : seen) {
    ASSERT_TRUE(spans.contains(kind));
    EXPECT_LE(spans["collective"].begin, spans[kind].begin);
    EXPECT_GE(spans["collective"].end, spans[kind].end);
  }
}

TEST(Overlap, OtherStepsRunWhileACollectiveIsUnderWay) {
  const auto arguments = arguments_of_ranks();
  std::vector<std::vector<Array>> got;
  auto seen = traced(compiled(sum_beside_product()), arguments, got);
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t i = 0; i < 64 * 64; ++i)
      ASSERT_EQ(got[r][0].as<float>()[i] - got[r][1].as<float>()[i],
                arguments[0][0].as<float>()[i] + arguments[1][0].as<float>()[i]);
  expect_inside(seen, "library");
}

// Two sums, each waited for right before what needs it and not sooner: the first before the first
// sort, the second after it.
TEST(Overlap, EachIsWaitedForBeforeTheFirstStepThatDependsOnIt) {
  constexpr std::string_view kSum = R"( <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<4096xf32>) -> tensor<4096xf32>)";
  constexpr std::string_view kSort = R"( <{dimension = 0 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %l = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<4096xf32>) -> tensor<4096xf32>)";
  const Program program = read(fmt::format(
      R"(
  func.func @main(%a: tensor<4096xf32>, %b: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {{
    %0 = "stablehlo.all_reduce"(%a){0}
    %1 = "stablehlo.all_reduce"(%b){0}
    %2 = "stablehlo.sort"(%0){1}
    %3 = "stablehlo.sort"(%1){1}
    return %2, %3 : tensor<4096xf32>, tensor<4096xf32>
  }})",
      kSum, kSort));
  const Type type = Type::tensor(DType::f32, {4096});
  const std::vector<std::vector<Array>> arguments(2,
                                                  {small_numbers(type, 1), small_numbers(type, 2)});
  TraceRecorder trace;
  RunOptions options;
  options.trace = &trace;
  ASSERT_TRUE(ThreadMesh(2).run(compiled(program), arguments, options));
  std::map<int, std::map<std::string, std::vector<Span>>> seen;
  const auto parsed = nlohmann::json::parse(trace.json());
  for (const auto& e : parsed["traceEvents"])
    if (e.value("ph", "") == "X")
      seen[e["pid"].get<int>()][e["cat"].get<std::string>()].push_back(
          {e["ts"].get<double>(), e["ts"].get<double>() + e["dur"].get<double>()});
  ASSERT_EQ(seen.size(), 2U);
  for (auto& [rank, spans] : seen) {
    auto &sums = spans["collective"], &sorts = spans["library"];
    ASSERT_EQ(sums.size(), 2U);
    ASSERT_EQ(sorts.size(), 2U);
    std::ranges::sort(sums, {}, &Span::end);
    std::ranges::sort(sorts, {}, &Span::begin);
    EXPECT_LE(sums[1].begin, sorts[0].begin);  // both begin before anything else
    EXPECT_LE(sums[0].end, sorts[0].begin);
    EXPECT_GE(sums[1].end, sorts[0].end);
    EXPECT_LE(sums[1].end, sorts[1].begin);
  }
}

TEST(Overlap, InSequenceNothingRunsMeanwhile) {
  CompileOptions options;
  options.overlap = false;
  std::vector<std::vector<Array>> got;
  for (auto& [rank, spans] :
       traced(compiled(sum_beside_product(), options), arguments_of_ranks(), got)) {
    Span sum = spans["collective"], product = spans["library"];
    EXPECT_TRUE(sum.end <= product.begin || product.end <= sum.begin);
  }
}

// A loop before the sum, which is used right behind it: the loop comes in between. A kernel may not
// take ops of both sides together.
TEST(Overlap, ALoopRunsWhileACollectiveIsUnderWay) {
  const Program program = read(R"(
  func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %turns = stablehlo.constant dense<3> : tensor<i32>
    %l:2 = stablehlo.while(%t = %zero, %s = %b) : tensor<i32>, tensor<256x256xf32>
    cond {
      %p = stablehlo.compare LT, %t, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = stablehlo.negate %s : tensor<256x256xf32>
      %u = stablehlo.add %t, %one : tensor<i32>
      stablehlo.return %u, %n : tensor<i32>, tensor<256x256xf32>
    }
    %n = stablehlo.negate %a : tensor<256x256xf32>
    %0 = "stablehlo.all_reduce"(%n) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = stablehlo.add %0, %l#1 : tensor<256x256xf32>
    return %1, %l#1 : tensor<256x256xf32>, tensor<256x256xf32>
  })");
  const Type type = Type::tensor(DType::f32, {256, 256});
  const std::vector<std::vector<Array>> arguments = {
      {small_numbers(type, 1), small_numbers(type, 2)},
      {small_numbers(type, 3), small_numbers(type, 4)}};
  std::vector<std::vector<Array>> got;
  auto seen = traced(compiled(program), arguments, got);
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t i = 0; i < 256 * 256; ++i) {
      ASSERT_EQ(got[r][1].as<float>()[i], -arguments[r][1].as<float>()[i]);
      ASSERT_EQ(got[r][0].as<float>()[i], -arguments[0][0].as<float>()[i] -
                                              arguments[1][0].as<float>()[i] -
                                              arguments[r][1].as<float>()[i]);
    }
  expect_inside(seen, "while");
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
