#include <gmock/gmock.h>

#include "heddle/stablehlo.h"
#include "parallel/one_mesh.h"

namespace heddle::test {
namespace {

using ::testing::HasSubstr;

std::string program_on(const std::string& meshes, const std::string& one,
                       const std::string& other) {
  const std::string sharding = " {sdy.sharding = #sdy.sharding<@";
  return meshes + "\nfunc.func @main(%a: tensor<8x8xf32>" + sharding + one +
         ">}, %b: tensor<8x8xf32>" + sharding + other +
         ">}) -> tensor<8x8xf32> {\n  %0 = stablehlo.add %a, %b : tensor<8x8xf32>\n" +
         "  return %0 : tensor<8x8xf32>\n}\n";
}

Program read(const std::string& text) { return read_stablehlo(text, "t.mlir").value(); }

constexpr const char* kTwoFour = "sdy.mesh @m = <[\"a\"=2, \"b\"=4]>\n";

TEST(OneMesh, TheOneThatHasAllCutsStays) {
  Program program = read(program_on(std::string(kTwoFour) + "sdy.mesh @n = <[\"x\"=8]>",
                                    "m, [{\"a\"}, {\"b\"}]", "n, [{\"x\"}, {}]"));
  EXPECT_EQ(put_on_one_mesh(program, "n").value(), "m");
  const std::string text = print_stablehlo(program);
  EXPECT_THAT(text, HasSubstr("<@m, [{\"a\"}, {\"b\"}]>"));
  EXPECT_THAT(text, HasSubstr("<@m, [{\"a\", \"b\"}, {}]>"));
}

TEST(OneMesh, AxesAreCutWhereAnyMeshCuts) {
  Program program = read(program_on(std::string(kTwoFour) + "sdy.mesh @n = <[\"p\"=4, \"q\"=2]>",
                                    "m, [{\"a\"}, {\"b\"}]", "n, [{\"q\"}, {\"p\":(2)2}]"));
  EXPECT_EQ(put_on_one_mesh(program, "m").value(), "m_cut");
  const std::string text = print_stablehlo(program);
  EXPECT_THAT(text, HasSubstr("@m_cut = <[\"m_0\"=2, \"m_1\"=2, \"m_2\"=2]>"));
  EXPECT_THAT(text, HasSubstr("<@m_cut, [{\"m_0\"}, {\"m_1\", \"m_2\"}]>"));
  EXPECT_THAT(text, HasSubstr("<@m_cut, [{\"m_2\"}, {\"m_1\"}]>"));
}

TEST(OneMesh, OrdersOfDevicesStay) {
  Program program =
      read(program_on("sdy.mesh @m = <[\"a\"=2, \"b\"=2]>\nsdy.mesh @n = <[\"x\"=4], "
                      "device_ids=[3, 2, 1, 0]>",
                      "m, [{\"a\"}, {\"b\"}]", "n, [{\"x\"}, {}]"));
  EXPECT_EQ(put_on_one_mesh(program, "m").value(), "m");
  EXPECT_THAT(print_stablehlo(program),
              HasSubstr("@n_cut = <[\"a\"=2, \"b\"=2], device_ids=[3, 2, 1, 0]>"));
}

TEST(OneMesh, MeshesWithoutCommonCutsAreRefused) {
  Program program =
      read(program_on("sdy.mesh @m = <[\"a\"=2, \"b\"=3]>\nsdy.mesh @n = <[\"c\"=3, \"d\"=2]>",
                      "m, [{\"a\"}, {}]", "n, [{\"d\"}, {}]"));
  EXPECT_THAT(put_on_one_mesh(program, "m").reason(),
              HasSubstr("@m (a=2,b=3), @n (c=3,d=2) cut the same 6 devices"));
}

TEST(OneMesh, OneMeshIsLeftAlone) {
  Program program = read(program_on(kTwoFour, "m, [{\"a\"}, {}]", "m, [{\"b\"}, {}]"));
  const std::string before = print_stablehlo(program);
  EXPECT_EQ(put_on_one_mesh(program, "").value(), "");
  EXPECT_EQ(print_stablehlo(program), before);
}

TEST(OneMesh, ManualAxesAreThoseOfTheOperands) {
  Program program = read(
      "sdy.mesh @m = <[\"a\"=4, \"b\"=2]>\nsdy.mesh @n = <[\"a\"=2, \"q\"=4]>\n"
      "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}]>}) -> "
      "tensor<8xf32> {\n"
      "  %0 = sdy.manual_computation(%x) in_shardings=[<@n, [{\"q\"}]>] out_shardings=[<@n, "
      "[{\"q\"}]>] manual_axes={\"q\"} (%y: tensor<2xf32>) {\n    sdy.return %y : tensor<2xf32>\n"
      "  } : (tensor<8xf32>) -> tensor<8xf32>\n  return %0 : tensor<8xf32>\n}\n");
  EXPECT_EQ(put_on_one_mesh(program, "m").value(), "m_cut");
  EXPECT_THAT(print_stablehlo(program), HasSubstr("manual_axes={\"m_1\", \"m_2\"}"));
}

}  // namespace
}  // namespace heddle::test
