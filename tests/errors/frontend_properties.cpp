// Properties that an op does not have.
#include "heddle/stablehlo.h"
#include "wrong_use.h"

namespace heddle {
namespace {

Expected<Program> with(const std::string& op) {
  return read_stablehlo("func.func @main(%a: tensor<2xf32>) {\n  %0 = " + op +
                            " : (tensor<2xf32>) -> tensor<2xf32>\n  return\n}",
                        "t.mlir");
}

WRONG_USE(PropertyError, MisspeltName,
          with("\"stablehlo.reverse\"(%a) <{dimensoins = array<i64: 0>}>"),
          "t.mlir:2:", "stablehlo.reverse has no property dimensoins; it has dimensions")
WRONG_USE(PropertyError, OpWithoutAny, with("\"stablehlo.abs\"(%a) <{fast = true}>"),
          "t.mlir:2:", "stablehlo.abs has no properties, got fast")

WRONG_USE(PropertyError, KindWithADot,
          with("\"stablehlo.abs\"(%a) {x = #stablehlo..gather<offset_dims = [0]>}"),
          "t.mlir:2:", "'.gather' is no kind of attribute of stablehlo")
WRONG_USE(PropertyError, WordOfAKindWithADot,
          with("\"stablehlo.abs\"(%a) {x = #stablehlo<a.b LT>}"),
          "t.mlir:2:", "'a.b' is no kind of attribute of stablehlo")

TEST(Property, OfAnotherDialectStays) {
  EXPECT_TRUE(with("\"stablehlo.abs\"(%a) <{mhlo.note = true}>"));
}

}  // namespace
}  // namespace heddle
