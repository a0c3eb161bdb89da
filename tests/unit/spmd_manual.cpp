// Bodies that are written per device along some axes: the other axes split them further.
#include <gmock/gmock.h>

#include "heddle/stablehlo.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

// A body over "x" whose argument lies along both axes.
Spmd over_both(const std::string& body) {
  const std::string text =
      "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n"
      "func.func @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, "
      "{\"y\"}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>}) "
      "{\n  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"x\"}, {\"y\"}]>] "
      "out_shardings=[<@mesh, [{\"x\"}, {\"y\"}]>] manual_axes={\"x\"} (%a: tensor<2x6xf32>) {\n" +
      body +
      "    sdy.return %r : tensor<2x6xf32>\n  } : (tensor<4x6xf32>) -> tensor<4x6xf32>\n"
      "  return %0 : tensor<4x6xf32>\n}\n";
  Spmd spmd = partition(read_stablehlo(text, "t.mlir").value()).value();
  const Verdict sound = verify(spmd.program);
  EXPECT_TRUE(sound.ok()) << (sound ? "" : sound.reason());
  return spmd;
}

std::string all_reduce(const std::string& groups) {
  return "    %r = \"stablehlo.all_reduce\"(%a) ({\n    ^bb0(%b: tensor<f32>, %c: tensor<f32>):\n"
         "      %s = stablehlo.add %b, %c : tensor<f32>\n      stablehlo.return %s : tensor<f32>\n"
         "    }) {replica_groups = dense<" +
         groups +
         "> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
         "use_global_device_ids} : (tensor<2x6xf32>) -> tensor<2x6xf32>\n";
}

TEST(Manual, FreeAxesSplitTheBody) {
  const Spmd spmd = over_both("    %r = stablehlo.add %a, %a : tensor<2x6xf32>\n");
  EXPECT_TRUE(counts(spmd).empty());
  EXPECT_LT(difference(spmd.logical(), spmd), 1e-6);
}

TEST(Manual, ASumOverAFreeAxisIsOneAllReduce) {
  const Spmd spmd = over_both(
      "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "    %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
      "(tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>\n"
      "    %t = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf32>) -> tensor<2x6xf32>\n"
      "    %r = stablehlo.multiply %t, %a : tensor<2x6xf32>\n");
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over y", 1}}));
  EXPECT_LT(difference(spmd.logical(), spmd), 1e-5);
}

// Groups along x: members have the same columns, so that each sums its own.
TEST(Manual, CollectivesOfTheBodyWorkOnParts) {
  const Spmd spmd = over_both(all_reduce("[[0, 2], [1, 3]]"));
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over x", 1}}));  // its own
  EXPECT_LT(difference(spmd.logical(), spmd), 1e-6);
}

// Groups across both axes: members have other columns, so that these are brought together first.
TEST(Manual, CollectivesBetweenOtherPartsTakeTheWhole) {
  const Spmd spmd = over_both(all_reduce("[[0, 3], [1, 2]]"));
  EXPECT_EQ(counts(spmd),
            (std::map<std::string, int>{{"all-gather over y", 1}, {"all-reduce over x, y", 1}}));
  EXPECT_LT(difference(spmd.logical(), spmd), 1e-6);
}

// What a manual computation takes is computed as it takes it.
TEST(Manual, OperandsLeanTowardsHowTheyAreTaken) {
  const Program program =
      read_stablehlo(
          "sdy.mesh @mesh = <[\"x\"=4]>\n"
          "func.func @main(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {\n"
          "  %b = stablehlo.add %x, %x : tensor<8x3xf32>\n"
          "  %0 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{\"x\"}, {}]>] "
          "out_shardings=[<@mesh, [{\"x\"}, {}]>] manual_axes={\"x\"} (%a: "
          "tensor<2x3xf32>) {\n"
          "    %1 = stablehlo.tanh %a : tensor<2x3xf32>\n"
          "    sdy.return %1 : tensor<2x3xf32>\n"
          "  } : (tensor<8x3xf32>) -> tensor<8x3xf32>\n"
          "  return %0 : tensor<8x3xf32>\n}\n")
          .value();
  const Spmd spmd = partition(program, {}).value();
  EXPECT_EQ(text_of(spmd.functions[0].arguments[0], program.meshes[0].mesh), "[{\"x\"}, {}]");
  EXPECT_TRUE(counts(spmd).empty());
}

TEST(Partition, DeviceIdsAreAllDevicesOnce) {
  for (const char* ids : {"[0]", "[0, 0]", "[0, 5]", "[-1, 0]"}) {
    const auto program = read_stablehlo(
        "sdy.mesh @m = <[\"x\"=2], device_ids=" + std::string(ids) +
            ">\nfunc.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, "
            "[{\"x\"}]>}) -> tensor<4xf32> {\n  return %arg0 : tensor<4xf32>\n}",
        "t.mlir");
    const auto spmd = partition(program.value());
    ASSERT_FALSE(spmd.ok()) << ids;
    EXPECT_THAT(spmd.reason(), ::testing::HasSubstr("must be 0 to 1 in some order"));
  }
}

TEST(Manual, AnotherOrderOfDevicesIsRefused) {
  const auto program = read_stablehlo(
      "sdy.mesh @a = <[\"x\"=2]>\nsdy.mesh @b = <[\"x\"=2], device_ids=[1, 0]>\n"
      "func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{\"x\"}]>}) -> "
      "(tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{\"x\"}]>}) {\n"
      "  %0 = sdy.manual_computation(%arg0) in_shardings=[<@b, [{\"x\"}]>] "
      "out_shardings=[<@b, [{\"x\"}]>] manual_axes={\"x\"} (%a: tensor<2xf32>) {\n"
      "    sdy.return %a : tensor<2xf32>\n  } : (tensor<4xf32>) -> tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n}",
      "t.mlir");
  const auto spmd = partition(program.value());
  ASSERT_FALSE(spmd.ok());
  EXPECT_THAT(spmd.reason(), ::testing::HasSubstr("come in another order"));
}

}  // namespace
}  // namespace heddle::test
