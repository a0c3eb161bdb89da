// Batch norms for a GPU: threads stay with their columns and walk down the rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/nvrtc.h"
#include "device/cuda/pack.h"
#include "heddle/cost.h"
#include "heddle/inputs.h"
#include "heddle/simplify.h"
#include "heddle/stablehlo.h"
#include "kernel/cuda_resident.h"
#include "kernel/cuda_walk.h"
#include "nvrtc_environment.h"
#include "stitched.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

constexpr CudaLimits kLimits{.shared_bytes = 227 << 10};

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// Normalised by the mean and the mean square of every column.
Program batch_norm(std::int64_t rows, std::int64_t columns, const std::string& type = "f32") {
  std::string text = R"(
    func.func @main(%x: tensor<RxCxT>, %g: tensor<CxT>) -> tensor<RxCxT> {
      %z = stablehlo.constant dense<0.0> : tensor<T>
      %n = stablehlo.constant dense<ROWS.0> : tensor<CxT>
      %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<RxCxT>, tensor<T>) -> tensor<CxT>
      %xx = stablehlo.multiply %x, %x : tensor<RxCxT>
      %ss = stablehlo.reduce(%xx init: %z) applies stablehlo.add across dimensions = [0] : (tensor<RxCxT>, tensor<T>) -> tensor<CxT>
      %m = stablehlo.divide %s, %n : tensor<CxT>
      %v = stablehlo.divide %ss, %n : tensor<CxT>
      %r = stablehlo.rsqrt %v : tensor<CxT>
      %rg = stablehlo.multiply %r, %g : tensor<CxT>
      %mb = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<CxT>) -> tensor<RxCxT>
      %rb = stablehlo.broadcast_in_dim %rg, dims = [1] : (tensor<CxT>) -> tensor<RxCxT>
      %d = stablehlo.subtract %x, %mb : tensor<RxCxT>
      %y = stablehlo.multiply %d, %rb : tensor<RxCxT>
      return %y : tensor<RxCxT>
    })";
  text = replaced(text, "ROWS", std::to_string(rows));
  text = replaced(text, "tensor<R", "tensor<" + std::to_string(rows));
  text = replaced(replaced(text, "xCx", "x" + std::to_string(columns) + "x"), "<Cx",
                  "<" + std::to_string(columns) + "x");
  text = replaced(replaced(text, "xT>", "x" + type + ">"), "<T>", "<" + type + ">");
  return simplify(read_stablehlo(text).value()).value();
}

MachineFigures h200() {
  return figures_of_gpu({.multiprocessors = 132,
                         .clock = 1.98e9,
                         .memory_rate = 4.8e12,
                         .shared_bytes = 227 << 10,
                         .far_cache = 50 << 20},
                        1);
}

// All of it in one kernel.
Kernel kernel_of(const Program& program) {
  StitchOptions options;
  options.machine = h200();
  const auto plan = stitch(program, program.functions[0].body, options).value();
  EXPECT_EQ(plan.units.size(), 1u);
  return lower_group(program, plan.units.at(0).kernels.at(0), options.machine).value();
}

// Sums of rows that go back over them, and of four columns: a thread has much to keep for each of
// its points.
constexpr std::string_view kManySums = R"(
    func.func @main(%a: tensor<8192x768xbf16>, %b: tensor<8192x768xbf16>, %c: tensor<8192x768xbf16>)
        -> (tensor<8192x768xbf16>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>) {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %x = stablehlo.convert %a : (tensor<8192x768xbf16>) -> tensor<8192x768xf32>
      %y = stablehlo.convert %b : (tensor<8192x768xbf16>) -> tensor<8192x768xf32>
      %w = stablehlo.convert %c : (tensor<8192x768xbf16>) -> tensor<8192x768xf32>
      %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8192x768xf32>, tensor<f32>) -> tensor<8192xf32>
      %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8192xf32>) -> tensor<8192x768xf32>
      %d = stablehlo.subtract %x, %sb : tensor<8192x768xf32>
      %p = stablehlo.multiply %d, %y : tensor<8192x768xf32>
      %t = stablehlo.reduce(%p init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8192x768xf32>, tensor<f32>) -> tensor<8192xf32>
      %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<8192xf32>) -> tensor<8192x768xf32>
      %q = stablehlo.multiply %p, %tb : tensor<8192x768xf32>
      %r = stablehlo.add %q, %w : tensor<8192x768xf32>
      %c0 = stablehlo.reduce(%r init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8192x768xf32>, tensor<f32>) -> tensor<768xf32>
      %c1 = stablehlo.reduce(%w init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8192x768xf32>, tensor<f32>) -> tensor<768xf32>
      %c2 = stablehlo.reduce(%p init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8192x768xf32>, tensor<f32>) -> tensor<768xf32>
      %c3 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8192x768xf32>, tensor<f32>) -> tensor<768xf32>
      %n = stablehlo.convert %r : (tensor<8192x768xf32>) -> tensor<8192x768xbf16>
      return %n, %c0, %c1, %c2, %c3 : tensor<8192x768xbf16>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>
    })";

TEST(CudaResident, NoMoreThreadsThanARowHasUnits) {
  const Kernel kernel = kernel_of(simplify(read_stablehlo(kManySums).value()).value());
  const auto rows = cuda_resident(kernel, kernel.phases[0], kLimits);
  ASSERT_TRUE(rows);
  EXPECT_LT(rows->group, 2 * rows->units);
  EXPECT_EQ(cuda_plan(kernel, kLimits).phases[0].threads, rows->group);
}

TEST(CudaWalk, SumsOfColumnsAndWhatFollowsAreWalked) {
  for (const auto& [rows, columns, units] :
       {std::tuple(802816, 64, 16), std::tuple(100352, 512, 128)}) {
    const Kernel kernel = kernel_of(batch_norm(rows, columns));
    // Sums in chunks, all of them put together, and the tail.
    ASSERT_EQ(kernel.phases.size(), 3u) << columns;
    for (std::size_t p : {0, 2}) {
      const auto walk = cuda_walk(kernel, kernel.phases[p], kLimits);
      ASSERT_TRUE(walk) << columns << " phase " << p;
      EXPECT_EQ(walk->units, units);
      EXPECT_EQ(walk->vectors.count, 4);
      EXPECT_GE(walk->grid, kLimits.multiprocessors);
      EXPECT_EQ(walk->abreast(), 256 / units);
    }
    EXPECT_FALSE(cuda_walk(kernel, kernel.phases[1], kLimits));
    // Neighbours in memory are neighbours of the last loop.
    EXPECT_EQ(kernel.phases[2].stages.back().loops.back().size, columns);
    EXPECT_EQ(cuda_plan(kernel, kLimits).phases[0].grid, kernel.phases[0].chunks);
  }
}

TEST(CudaWalk, FewRowsAreNotWorthIt) {
  const Kernel kernel = kernel_of(batch_norm(512, 64));
  for (const Phase& phase : kernel.phases) EXPECT_FALSE(cuda_walk(kernel, phase, kLimits));
}

TEST(CudaWalk, WhatBelongsToColumnsIsLoadedBeforeTheRows) {
  const std::string text = emit_cuda(kernel_of(batch_norm(802816, 64)), kLimits);
  const std::size_t tail = text.find("k_", text.rfind("// k_")),
                    loop = text.find("for (int row", tail);
  ASSERT_NE(loop, std::string::npos);
  EXPECT_NE(text.substr(tail, loop - tail).find("h_rsqrt"), std::string::npos);
  EXPECT_EQ(text.substr(loop).find("h_rsqrt"), std::string::npos);
}

// Each of many texts that a pack has in line brings shared memory of its own.
TEST(CudaWalk, PacksOfManyCompile) {
  use_build_environment();
  if (const auto found = find_nvrtc(); !found) GTEST_SKIP() << found.reason();
  std::vector<LaunchKernel> kernels;
  for (std::int64_t rows = 100352; rows < 100352 + 7 * 64; rows += 64)
    kernels.push_back({.kernel = kernel_of(batch_norm(rows, 64, "f64"))});
  for (const auto& numbers : cuda::CudaPack::chosen(kernels, kLimits)) {
    const auto code = compile_cuda(cuda::CudaPack(kernels, numbers, kLimits).text(), "sm_90");
    ASSERT_TRUE(code) << numbers.size() << " kernels: " << code.reason();
    for (const auto& function : code->functions) EXPECT_LE(function.shared_bytes, 48 << 10);
  }
}

TEST(CudaWalk, CompilesWithoutSpills) {
  use_build_environment();
  if (const auto found = find_nvrtc(); !found) GTEST_SKIP() << found.reason();
  for (const char* type : {"f32", "bf16", "f64"}) {
    const Kernel kernel = kernel_of(batch_norm(802816, 64, type));
    const auto code = compile_cuda(emit_cuda(kernel, kLimits), "sm_90");
    ASSERT_TRUE(code) << code.reason();
    for (const auto& function : code->functions) EXPECT_EQ(function.spilled_bytes, 0) << type;
  }
}

// The kernel itself, point by point.
TEST(CudaWalk, GivesWhatTheProgramSays) {
  const Program program = batch_norm(192, 48);
  std::vector<Array> arguments;
  for (ValueId v : program.region(program.functions[0].body).args)
    arguments.push_back(random_array(program.type_of(v), arguments.size() + 1));
  StitchOptions options;
  options.machine = h200();
  const Stitched ran = run_stitched(program, arguments, options);
  const auto got = ran.results.at(0).as<float>();
  const auto wanted = interpret(program, program.functions[0], arguments).value();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[0].as<float>()[i], 1e-4);
}

}  // namespace
}  // namespace heddle
