// Shardings that do not fit their mesh or their value, and meshes that are none.
#include "heddle/stablehlo.h"
#include "wrong_use.h"

namespace heddle {
namespace {

Expected<Program> sharded(const std::string& sharding,
                          const std::string& type = "tensor<8x8xf32>") {
  return read_stablehlo("sdy.mesh @m = <[\"x\"=2, \"y\"=4, \"z\"=6]>\nfunc.func @main(%a: " + type +
                            " {sdy.sharding = #sdy.sharding<" + sharding + ">}) { return }",
                        "t.mlir");
}
Expected<Program> mesh_text(const std::string& mesh) {
  return read_stablehlo("sdy.mesh @m = <[\"x\"=2]>\nsdy.mesh " + mesh, "t.mlir");
}
Expected<Program> op_text(const std::string& op) {
  return read_stablehlo(
      "sdy.mesh @m = <[\"x\"=2]>\nfunc.func @main(%a: tensor<4xf32>) {\n" + op + "\n  return }",
      "t.mlir");
}

WRONG_USE(ShardingError, UnknownMesh, sharded("@q, [{}, {}]"), "t.mlir:2:17", "no mesh @q",
          "<@q, [{}, {}]>")
WRONG_USE(ShardingError, UnknownAxis, sharded("@m, [{\"w\"}, {}]"), "t.mlir:2:17",
          "mesh @m has no axis \"w\"", "it has \"x\", \"y\", \"z\"")
WRONG_USE(ShardingError, UnknownReplicatedAxis, sharded("@m, [{}, {}], replicated={\"w\"}"),
          "has no axis \"w\"")
WRONG_USE(ShardingError, UnknownUnreducedAxis, sharded("@m, [{}, {}], unreduced={\"w\"}"),
          "has no axis \"w\"")
WRONG_USE(ShardingError, AxisTwiceInOneDimension, sharded("@m, [{\"x\", \"x\"}, {}]"),
          "t.mlir:2:17", "\"x\" is used twice")
WRONG_USE(ShardingError, AxisInTwoDimensions, sharded("@m, [{\"x\"}, {\"x\"}]"),
          "\"x\" is used twice")
WRONG_USE(ShardingError, AxisSplitAndReplicated, sharded("@m, [{\"x\"}, {}], replicated={\"x\"}"),
          "\"x\" is used twice")
WRONG_USE(ShardingError, AxisReplicatedAndUnreduced,
          sharded("@m, [{}, {}], replicated={\"x\"}, unreduced={\"x\"}"), "\"x\" is used twice")
WRONG_USE(ShardingError, PartAndWhole, sharded("@m, [{\"y\"}, {\"y\":(1)2}]"),
          "\"y\":(1)2 is used twice")
WRONG_USE(ShardingError, PartsThatOverlap, sharded("@m, [{\"z\":(1)3}, {\"z\":(2)3}]"),
          "\"z\":(2)3 is used twice")
WRONG_USE(ShardingError, PartsThatDoNotNest, sharded("@m, [{\"z\":(1)2}, {\"z\":(3)2}]"),
          "\"z\":(3)2", "2 does not divide 3")
WRONG_USE(ShardingError, PartThatDoesNotDivide, sharded("@m, [{\"y\":(1)3}, {}]"),
          "axis \"y\" of size 4 has no part \"y\":(1)3", "must divide 4")
WRONG_USE(ShardingError, PartBehindTheEnd, sharded("@m, [{\"y\":(4)2}, {}]"), "has no part")
WRONG_USE(ShardingError, HugePart, sharded("@m, [{\"y\":(4611686018427387904)4}, {}]"),
          "has no part")
WRONG_USE(ShardingError, PartOfOne, sharded("@m, [{\"y\":(2)1}, {}]"), "at least (1)2")
WRONG_USE(ShardingError, PartThatIsAll, sharded("@m, [{\"y\":(1)4}, {}]"), "write \"y\"")
WRONG_USE(ShardingError, PartsSideBySide, sharded("@m, [{\"y\":(1)2, \"y\":(2)2}, {}]"),
          "two parts of axis \"y\"", "as one")
WRONG_USE(ShardingError, TooFewDimensions, sharded("@m, [{\"x\"}]"), "t.mlir:2:17",
          "it has 1 dimension and tensor<8x8xf32> has 2")
WRONG_USE(ShardingError, TooManyDimensions, sharded("@m, [{}, {}, {}]"), "it has 3 dimensions")
WRONG_USE(ShardingError, NoDimensions, sharded("@m, []"), "it has 0 dimensions")
WRONG_USE(ShardingError, DimensionsOfAToken, sharded("@m, [{}]", "!stablehlo.token"),
          "it has 1 dimension")
WRONG_USE(ShardingError, NoSharding,
          read_stablehlo("func.func @f(%a: tensor<f32> {sdy.sharding = 5}) { return }"),
          "expected a sharding")

WRONG_USE(ShardingError, TooManyForAnOp,
          op_text("%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>, <@m, "
                  "[{}]>]>} : tensor<4xf32>"),
          "t.mlir:3:6", "2 shardings are given for 1 results")
WRONG_USE(ShardingError, ConstraintOfAnotherRank,
          op_text("%0 = sdy.sharding_constraint %a <@m, [{}, {}]> : tensor<4xf32>"), "t.mlir:3:6",
          "it has 2 dimensions")
WRONG_USE(ShardingError, ManualWithTooFew,
          op_text("\"sdy.manual_computation\"(%a) <{in_shardings = #sdy.sharding_per_value<[]>, "
                  "manual_axes = #sdy<manual_axes{}>}> ({\n^bb0(%b: tensor<4xf32>):\n"
                  "\"sdy.return\"() : () -> ()}) : (tensor<4xf32>) -> ()"),
          "0 shardings are given for 1 operands")

WRONG_USE(MeshTextError, DefinedTwice, mesh_text("@m = <[\"y\"=2]>"), "t.mlir:2:10",
          "mesh @m is defined twice")
WRONG_USE(MeshTextError, AxisTwice, mesh_text("@n = <[\"y\"=2, \"y\"=2]>"), "t.mlir:2:10",
          "axis \"y\" is given twice")
WRONG_USE(MeshTextError, SizeZero, mesh_text("@n = <[\"y\"=0]>"), "at least one position")
WRONG_USE(MeshTextError, TooManyDevices,
          mesh_text("@n = <[\"y\"=1099511627776, \"w\"=1099511627776]>"), "2^60 devices")

std::string many_axes() {
  std::string text = "@n = <[";
  for (int i = 0; i < 65; ++i) text += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\"=1";
  return text + "]>";
}
WRONG_USE(MeshTextError, TooManyAxes, mesh_text(many_axes()), "65 axes")

}  // namespace
}  // namespace heddle
