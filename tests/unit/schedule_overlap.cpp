// Work that comes between the begin of a collective and its wait.
#include <gmock/gmock.h>

#include "heddle/op.h"
#include "heddle/schedule.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"

namespace heddle {
namespace {

using testing::ElementsAre;

const std::string kSum = R"(<{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<128x128xf32>) -> tensor<128x128xf32>)";
const std::string kDot =
    "contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> "
    "tensor<128x128xf32>";

// A function of two matrices, of which the last named one is the result.
Program program_of(std::string body, const std::string& result) {
  for (const auto& [word, text] : {std::pair{"SUM", kSum}, {"DOT", kDot}})
    for (std::size_t at = 0; (at = body.find(word)) != body.npos;) body.replace(at, 3, text);
  const std::string matrix = "tensor<128x128xf32>";
  return read_stablehlo("func.func @main(%a: " + matrix + ", %b: " + matrix + ") -> " + matrix +
                            " {\n" + body + "\nreturn " + result + " : " + matrix + "\n}",
                        "test.mlir")
      .value();
}

std::vector<std::string> order(const Program& program) {
  std::vector<std::string> names;
  for (OpId id : program.region(program.functions[0].body).ops)
    names.emplace_back(program.op(id).def->short_name());
  return names;
}

Program scheduled(const Program& program, const ScheduleOptions& options = {}) {
  Program made = schedule(program, options);
  EXPECT_TRUE(verify(made));
  return made;
}

TEST(Overlap, WorkBeforeACollectiveThatNeedsNoneOfItComesBehindItsBegin) {
  const Program program = program_of(R"(
    %0 = stablehlo.dot_general %b, %b, DOT
    %1 = stablehlo.negate %a : tensor<128x128xf32>
    %2 = "stablehlo.all_reduce"(%1) SUM
    %3 = stablehlo.add %0, %2 : tensor<128x128xf32>)",
                                     "%3");
  EXPECT_THAT(order(scheduled(program)), ElementsAre("negate", "all_reduce", "dot_general",
                                                     "optimization_barrier", "add", "return"));
  EXPECT_THAT(order(scheduled(program, {.overlap = false})),
              ElementsAre("dot_general", "negate", "all_reduce", "add", "return"));
}

TEST(Overlap, WorkBehindTheFirstUseComesBeforeTheWait) {
  const Program program = program_of(R"(
    %0 = "stablehlo.all_reduce"(%a) SUM
    %1 = stablehlo.negate %0 : tensor<128x128xf32>
    %2 = stablehlo.abs %b : tensor<128x128xf32>
    %3 = stablehlo.dot_general %2, %b, DOT
    %4 = stablehlo.add %1, %3 : tensor<128x128xf32>)",
                                     "%4");
  EXPECT_THAT(order(scheduled(program)),
              ElementsAre("all_reduce", "abs", "dot_general", "optimization_barrier", "negate",
                          "add", "return"));
}

// The second sum would have it, too.
TEST(Overlap, WorkThatLiesBesideACollectiveStaysThere) {
  const Program program = program_of(R"(
    %0 = "stablehlo.all_reduce"(%a) SUM
    %1 = stablehlo.dot_general %b, %b, DOT
    %2 = stablehlo.negate %0 : tensor<128x128xf32>
    %3 = "stablehlo.all_reduce"(%2) SUM
    %4 = stablehlo.add %3, %1 : tensor<128x128xf32>)",
                                     "%4");
  EXPECT_THAT(order(scheduled(program)),
              ElementsAre("all_reduce", "dot_general", "optimization_barrier", "negate",
                          "all_reduce", "add", "return"));
}

// What a collective needs, or needs it, stays on its side.
TEST(Overlap, ALineOfWorkKeepsItsOrder) {
  const Program program = program_of(R"(
    %0 = stablehlo.dot_general %a, %b, DOT
    %1 = "stablehlo.all_reduce"(%0) SUM
    %2 = stablehlo.dot_general %1, %b, DOT)",
                                     "%2");
  EXPECT_THAT(order(scheduled(program)),
              ElementsAre("dot_general", "all_reduce", "dot_general", "return"));
}

// The second one begins before the work, too, and both keep their order.
TEST(Overlap, CollectivesKeepTheirOrder) {
  const Program program = program_of(R"(
    %0 = "stablehlo.all_reduce"(%a) SUM
    %1 = stablehlo.negate %0 : tensor<128x128xf32>
    %2 = stablehlo.dot_general %b, %b, DOT
    %3 = stablehlo.abs %b : tensor<128x128xf32>
    %4 = "stablehlo.all_reduce"(%3) SUM
    %5 = stablehlo.add %1, %2 : tensor<128x128xf32>
    %6 = stablehlo.add %5, %4 : tensor<128x128xf32>)",
                                     "%6");
  EXPECT_THAT(order(scheduled(program)),
              ElementsAre("all_reduce", "abs", "all_reduce", "dot_general", "optimization_barrier",
                          "negate", "add", "optimization_barrier", "add", "return"));
}

}  // namespace
}  // namespace heddle
