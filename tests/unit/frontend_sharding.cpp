// Shardings of the text as layouts on values, and the text that comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/notation.h"
#include "heddle/op.h"
#include "heddle/stablehlo.h"

namespace heddle::sharding_tests {
namespace {

using ::testing::HasSubstr;

// A function of one argument on a mesh x=2, y=4, z=8, one=1.
Program argument(const std::string& sharding, const std::string& type) {
  return read_stablehlo(
             "sdy.mesh @m = <[\"x\"=2, \"y\"=4, \"z\"=8, \"one\"=1]>\n"
             "func.func @main(%a: " +
                 type + " {sdy.sharding = #sdy.sharding<@m, " + sharding + ">}) { return }",
             "t.mlir")
      .value();
}

const ValueLayout& layout_of_argument(const Program& p) {
  return *p.layout_of(p.region(p.functions[0].body).args[0]);
}

struct Case {
  const char *sharding, *type, *layout;
};

// What the notation of layouts calls each; axes that nothing mentions hold copies in both.
TEST(Sharding, IsALayout) {
  const Case cases[] = {
      {"[{}, {}]", "tensor<8x6xf32>", "(8, 6)"},
      {"[{\"x\"}, {\"y\"}]", "tensor<8x8xf32>", "(8:2@x, 8:4@y)"},
      {"[{\"y\", \"x\"}]", "tensor<16xf32>", "(16:4@y:2@x)"},
      {"[{\"z\":(1)2}]", "tensor<16xf32>", "(16:2@z) + R[4@z]"},
      {"[{\"z\":(2)4}]", "tensor<16xf32>", "(16:(4:1@z)) + R[2:4@z]"},
      {"[{\"z\":(4)2}, {\"z\":(1)2}]", "tensor<4x4xf32>", "(4:(2:1@z), 4:(2:4@z)) + R[2:2@z]"},
      {"[{\"y\"}]", "tensor<10xf32>", "(10{pad=12}:4@y)"},
      {"[{\"y\", \"x\"}]", "tensor<10xf32>", "(10{pad=16}:4@y:2@x)"},
      {"[{\"z\"}]", "tensor<3xf32>", "(3{pad=8}:8@z)"},
      {"[{\"x\"}], unreduced={\"y\"}", "tensor<4xf32>", "(4:2@x) + P[sum 4@y]"},
      {"[{}], unreduced={\"z\":(2)2}", "tensor<4xf32>", "(4) + R[2:4@z, 2:1@z] + P[sum 2:2@z]"},
      {"[{\"x\"}], replicated={\"y\"}", "tensor<4xf32>", "(4:2@x)"},
      {"[{\"one\", \"x\"}]", "tensor<4xf32>", "(4:2@x)"},
      {"[]", "tensor<f32>", "()"},
  };
  for (const Case& c : cases) {
    const Program p = argument(c.sharding, c.type);
    AxisRegistry axes = p.axes;
    const auto expected = parse_layout(c.layout, axes);
    ASSERT_TRUE(expected.ok()) << c.layout << ": " << expected.reason();
    EXPECT_EQ(layout_of_argument(p).layout, *expected)
        << c.sharding << " is " << print_layout(layout_of_argument(p).layout, p.axes);
    EXPECT_TRUE(validate(layout_of_argument(p).layout, p.axes)) << c.sharding;
  }
}

TEST(Sharding, OfNoElementsHasAPlace) {
  const Program p = argument("[{\"x\"}, {}]", "tensor<0x4xf32>");
  EXPECT_EQ(layout_of_argument(p).layout.dims()[0].size, Dim(0));
}

// Open dimensions, priorities, explicit replication and axes of one position are no part of the
// layout; the text has them again.
TEST(Sharding, ComesBackAsItsText) {
  const Case cases[] = {
      {"[{\"x\", ?}p3, {?}]", "tensor<8x6xf32>", ""},
      {"[{\"x\", \"one\"}, {}]", "tensor<8x6xf32>", ""},
      {"[{\"one\", \"x\"}p0, {\"z\":(2)2, \"y\"}]", "tensor<8x6xf32>", ""},
      {"[{\"z\":(1)2}, {}], replicated={\"y\", \"z\":(4)2}, unreduced={\"x\"}", "tensor<8x6xf32>",
       ""},
      {"[{}], unreduced={\"x\", \"z\":(1)2, \"z\":(4)2}", "tensor<8xf32>", ""},
  };
  for (const Case& c : cases) {
    const Program p = argument(c.sharding, c.type);
    for (TextForm form : {TextForm::pretty, TextForm::generic}) {
      const std::string text = print_stablehlo(p, form);
      EXPECT_THAT(text,
                  HasSubstr("{sdy.sharding = #sdy.sharding<@m, " + std::string(c.sharding) + ">}"));
      EXPECT_TRUE(same_program(p, read_stablehlo(text).value()));
    }
  }
}

TEST(Sharding, RidesOnResultsOfOpsAndFunctions) {
  const char* text =
      "sdy.mesh @m = <[\"x\"=2]>\n"
      "func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = \"r\", sdy.sharding "
      "= #sdy.sharding<@m, [{\"x\"}]>}) {\n"
      "  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}]>]>} : "
      "tensor<4xf32>\n"
      "  %1 = sdy.sharding_constraint %0 <@m, [{?}]> : tensor<4xf32>\n"
      "  return %1 : tensor<4xf32>\n}";
  const Program p = read_stablehlo(text).value();
  const Region& body = p.region(p.functions[0].body);
  const ValueLayout* sum = p.layout_of(p.op(body.ops[0]).results);
  const ValueLayout* constrained = p.layout_of(p.op(body.ops[1]).results);
  ASSERT_NE(sum, nullptr);
  ASSERT_NE(constrained, nullptr);
  EXPECT_EQ(print_layout(sum->layout, p.axes), "(4:2@x)");
  EXPECT_TRUE(constrained->hints.dims[0].open);
  EXPECT_EQ(p.layout(p.functions[0].result_layouts[0])->layout, sum->layout);
  EXPECT_EQ(p.layout_of(body.args[0]), nullptr);
  EXPECT_TRUE(p.attrs_of(p.op(body.ops[0])).empty());
  const std::string printed = print_stablehlo(p);
  EXPECT_THAT(printed, HasSubstr("{jax.result_info = \"r\", sdy.sharding = "
                                 "#sdy.sharding<@m, [{\"x\"}]>}"));
  EXPECT_THAT(printed,
              HasSubstr("{sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"x\"}]>]>} : tensor"));
  EXPECT_THAT(printed, HasSubstr("sdy.sharding_constraint %0 <@m, [{?}]> : tensor<4xf32>"));
}

// Meshes may stand behind the functions that use them, and share or repeat names of axes.
TEST(Sharding, MeshesAreMeshes) {
  const Program p = read_stablehlo(
                        "func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@b, "
                        "[{\"x\"}]>}) { return }\n"
                        "sdy.mesh @a = <[\"x\"=2, \"lane\"=4]>\n"
                        "sdy.mesh @b = <[\"x\"=4, \"my axis\"=2], device_ids=[0, 2, 4, 6, 1, 3, 5, "
                        "7]>\nsdy.mesh @c = <[\"x\"=2]>")
                        .value();
  ASSERT_EQ(p.meshes.size(), 3U);
  EXPECT_EQ(p.meshes[1].mesh.devices(), 8);
  EXPECT_EQ(p.meshes[0].mesh.axes()[0].axis, p.meshes[2].mesh.axes()[0].axis);
  EXPECT_NE(p.meshes[0].mesh.axes()[0].axis, p.meshes[1].mesh.axes()[0].axis);
  EXPECT_EQ(layout_of_argument(p).mesh, 1U);
  EXPECT_EQ(print_layout(layout_of_argument(p).layout, p.axes),
            "(4:4@x_4) + R[my_axis] + 0@x + 0@lane_4");
  EXPECT_TRUE(same_program(p, read_stablehlo(print_stablehlo(p)).value()));
}

TEST(Sharding, OnOneDeviceNamesNoDimensions) {
  const Program p = read_stablehlo(
                        "sdy.mesh @one = <[], device_ids=[3]>\nfunc.func @main(%a: tensor<4x4xf32> "
                        "{sdy.sharding = #sdy.sharding<@one, []>}) { return }")
                        .value();
  EXPECT_EQ(layout_of_argument(p).layout.rank(), 2U);
  EXPECT_THAT(print_stablehlo(p), HasSubstr("#sdy.sharding<@one, []>"));
}

TEST(Sharding, OfManualComputations) {
  const char* text =
      "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
      "func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
      "  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {?}]>] "
      "out_shardings=[<@m, [{}, {\"x\"}]>] manual_axes={\"x\"} (%b: tensor<2x4xf32>) {\n"
      "    %1 = stablehlo.reshape %b : (tensor<2x4xf32>) -> tensor<4x2xf32>\n"
      "    sdy.return %1 : tensor<4x2xf32>\n"
      "  } : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
      "  return %0 : tensor<4x4xf32>\n}";
  const Program p = read_stablehlo(text).value();
  const Op& op = p.op(p.value(p.operands(p.op(p.region(p.functions[0].body).ops[1]))[0]).op);
  ASSERT_EQ(p.operand_layouts(op).size(), 1U);
  EXPECT_EQ(print_layout(p.layout(p.operand_layouts(op)[0])->layout, p.axes), "(4:2@x, 4) + R[y]");
  EXPECT_EQ(print_layout(p.layout_of(op.results)->layout, p.axes), "(4, 4:2@x) + R[y]");
  for (TextForm form : {TextForm::pretty, TextForm::generic}) {
    auto again = read_stablehlo(print_stablehlo(p, form));
    ASSERT_TRUE(again) << again.reason();
    EXPECT_TRUE(same_program(p, *again));
  }
  EXPECT_THAT(print_stablehlo(p),
              HasSubstr("(%arg0) in_shardings=[<@m, [{\"x\"}, {?}]>] out_shardings=[<@m, [{}, "
                        "{\"x\"}]>] manual_axes={\"x\"} (%arg1: tensor<2x4xf32>) {"));
}

// Layouts that are no shardings: cyclic, at one position, in another memory order.
TEST(Sharding, OnlyOfLayoutsThatHaveOne) {
  Program p = argument("[{\"x\"}, {}]", "tensor<8x6xf32>");
  const Type type = Type::tensor(DType::f32, {8, 6});
  const ValueLayout at = layout_of_argument(p);
  EXPECT_TRUE(p.sharding(at, type).ok());
  for (const char* text : {"(8:2:2@x, 6)", "(8, 6) + 0@x",
                           "[8,6] S[(8,6):(1@mem,8@mem)] + R[2@x, "
                           "4@y, 8@z]"}) {
    ValueLayout other = at;
    other.layout = parse_layout(text, p.axes).value();
    auto sharding = p.sharding(other, type);
    ASSERT_FALSE(sharding.ok()) << text;
    EXPECT_THAT(sharding.reason(), HasSubstr("no sharding has this layout"));
    p.set_layout(p.region(p.functions[0].body).args[0], p.intern(other));
    EXPECT_THAT(print_stablehlo(p), HasSubstr("{heddle.layout = \"")) << text;
  }
}

TEST(Sharding, LayoutsOfOpsWithoutAShardingAreShown) {
  Program p = read_stablehlo(
                  "sdy.mesh @m = <[\"x\"=2]>\nfunc.func @main(%a: tensor<8xf32>) {\n  %0 = "
                  "sdy.sharding_constraint %a <@m, [{\"x\"}]> : tensor<8xf32>\n  return\n}")
                  .value();
  const ValueId v = p.op(p.region(p.functions[0].body).ops[0]).results;
  ValueLayout cyclic = *p.layout_of(v);
  cyclic.layout = parse_layout("(8:2:2@x)", p.axes).value();
  p.set_layout(v, p.intern(cyclic));
  EXPECT_THAT(print_stablehlo(p), HasSubstr("heddle.layout = [\"(8:2:2@x)\"]"));
  EXPECT_TRUE(read_stablehlo(print_stablehlo(p)).ok());
}

// Written as they were read, in both forms.
TEST(Sharding, CollectivesOfSdyReadBack) {
  const char* const kOps[] = {
      R"(sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@m, [{}, {}]>)",
      R"(sdy.all_slice [{}, {"y":(1)2}] %arg0 out_sharding=<@m, [{}, {"y":(1)2}]>)",
      R"(sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@m, [{}, {"x"}]>)",
      R"(sdy.all_reduce {"x"} %arg0 out_sharding=<@m, [{}, {}]>)",
      R"(sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@m, [{"x"}, {}]>)",
      R"(sdy.collective_permute %arg0 out_sharding=<@m, [{"y"}, {}]>)",
      R"(sdy.reshard %arg0 <@m, [{"y"}, {}]>)",
      R"(sdy.sharding_constraint %arg0 <@m, [{"x", ?}, {}p1]>)",
      R"(sdy.sharded_to_unreduced [{"x"}, {}] %arg0 out_sharding=<@m, [{}, {}], unreduced={"x"}>)",
      R"(sdy.replicated_to_unreduced {"x"} %arg0 out_sharding=<@m, [{}, {}], unreduced={"x"}>)",
      R"(sdy.propagation_barrier %arg0 allowed_direction = FORWARD)",
      R"(sdy.data_flow_edge %arg0 sharding=<@m, [{"x"}, {}]>)",
      R"(sdy.data_flow_edge %arg0 :)",
  };
  for (const char* op : kOps) {
    const std::string text =
        "sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\nfunc.func @main(%arg0: tensor<8x8xf32>) "
        "-> tensor<8x8xf32> {\n %0 = " +
        std::string(op) + (std::string_view(op).ends_with(':') ? "" : " :") +
        " tensor<8x8xf32>\n return %0 : tensor<8x8xf32>\n}";
    const auto program = read_stablehlo(text, "t.mlir");
    ASSERT_TRUE(program.ok()) << op << ": " << program.reason();
    EXPECT_THAT(print_stablehlo(*program), HasSubstr(op));
    const auto again = read_stablehlo(print_stablehlo(*program, TextForm::generic));
    ASSERT_TRUE(again.ok()) << op << ": " << again.reason();
    EXPECT_THAT(print_stablehlo(*again), HasSubstr(op));
  }
  const auto mixed = read_stablehlo(
      "sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\nfunc.func @main(%a: tensor<8x8xf32>) {\n %0 = "
      "sdy.all_to_all "
      "[{\"x\"}: 0->1, {\"y\"}] %a out_sharding=<@m, [{}, {\"x\"}]> : tensor<8x8xf32>\n return\n}");
  ASSERT_FALSE(mixed.ok());
  EXPECT_THAT(mixed.reason(), HasSubstr("either all axes say where they go"));
}

// Shardings of a named computation may be left out, one kind or both.
TEST(Sharding, NamedComputationsReadBack) {
  const std::string kBody =
      " (%arg1: tensor<8x8xf32>) {\n      sdy.return %arg1 : tensor<8x8xf32>\n    } : "
      "(tensor<8x8xf32>) -> tensor<8x8xf32>";
  for (const char* said :
       {"", R"( in_shardings=[<@m, [{"x"}, {}]>])", R"( out_shardings=[<@m, [{}, {"x"}]>])",
        R"( in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{}, {"x"}]>])"}) {
    const std::string op = R"(sdy.named_computation<"a.b">(%arg0))" + std::string(said) + kBody;
    const auto program = read_stablehlo(
        "sdy.mesh @m = <[\"x\"=2]>\nfunc.func @main(%arg0: tensor<8x8xf32>) "
        "-> tensor<8x8xf32> {\n %0 = " +
            op + "\n return %0 : tensor<8x8xf32>\n}",
        "t.mlir");
    ASSERT_TRUE(program.ok()) << op << ": " << program.reason();
    EXPECT_THAT(print_stablehlo(*program), HasSubstr(op));
    const auto again = read_stablehlo(print_stablehlo(*program, TextForm::generic));
    ASSERT_TRUE(again.ok()) << op << ": " << again.reason();
    EXPECT_THAT(print_stablehlo(*again), HasSubstr(op));
  }
}

TEST(Sharding, MeshesInPlaceAreMeshesOfTheProgram) {
  const auto program = read_stablehlo(
      "sdy.mesh @m = <[\"x\"=2]>\n"
      "func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<[\"x\"=2]>, "
      "[{\"x\"}]>},"
      " %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<[\"y\"=4]>, [{\"y\"}]>},"
      " %c: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<[\"y\"=4]>, [{}]>},"
      " %d: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<[\"x\"=2], device_ids=[1, 0]>, [{}]>})"
      " { return }",
      "t.mlir");
  ASSERT_TRUE(program.ok()) << program.reason();
  ASSERT_EQ(program->meshes.size(), 3U);  // equal ones are one
  EXPECT_EQ(program->meshes[1].mesh.devices(), 4);
  EXPECT_EQ(program->meshes[2].device_ids, (std::vector<std::int64_t>{1, 0}));
  const auto& args = program->region(program->functions[0].body).args;
  EXPECT_EQ(program->layout_of(args[0])->mesh, 0U);
  EXPECT_EQ(program->layout_of(args[1])->mesh, program->layout_of(args[2])->mesh);
  EXPECT_TRUE(read_stablehlo(print_stablehlo(*program)).ok());
}

}  // namespace
}  // namespace heddle::sharding_tests
