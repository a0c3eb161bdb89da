// What cannot be fixed, or contradicts itself, and what would do instead.
#include "heddle/compile.h"
#include "heddle/fix.h"
#include "heddle/spmd.h"
#include "heddle/stablehlo.h"
#include "wrong_use.h"

namespace heddle {
namespace {

Program step() {
  return read_stablehlo(R"(
    func.func @main(%w: tensor<64x64xf32>, %x: tensor<8x64xf32>) -> tensor<64x64xf32> {
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
      %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0]
        : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
      %n = stablehlo.add %w, %g : tensor<64x64xf32>
      return %n : tensor<64x64xf32>
    })",
                        "step.mlir")
      .value();
}

Expected<FoundPlan> found(const std::string& mesh, const std::vector<std::string>& texts) {
  Target target{.mesh = mesh};
  target.options.entry = "main";
  target.layouts.search = 2;
  target.carried = {{0, 0}};
  HEDDLE_TRY(Fixes fixes, parse_fixes(texts));
  target.layouts.shards = fixes.shards;
  target.layouts.batch = fixes.batch;
  target.layouts.device_memory = fixes.memory.value_or(INT64_MAX);
  HEDDLE_TRY(const Spmd spmd, distribute(step(), target));
  return *spmd.decided->functions[0].found;
}

WRONG_USE(FixError, NoEquals, parse_fixes({"arg0"}), "fix arg0", "NAME=SHARDING")
WRONG_USE(FixError, NoSuchArgument, found("dp=2", {"arg7=dp,_"}), "fix arg7=dp,_", "arg7",
          "2 arguments")
// A plan without it is not what was asked for.
TEST(FixError, AMistakeHasNoAdviceToLeaveItOut) {
  for (const char* text : {"arg7=dp,_", "arg0=tp,_", "batch=tp"})
    EXPECT_EQ(found("dp=2", {text}).reason().find("there is a plan"), std::string::npos) << text;
}
WRONG_USE(FixError, NoSuchAxis, found("dp=2", {"arg0=tp,_"}), "no axis \"tp\"", "dp")
WRONG_USE(FixError, TheSameTwice, found("dp=2", {"arg0=dp,_", "arg0=_,dp"}), "arg0", "before",
          "leave one of them out")
WRONG_USE(FixError, AnAxisTwice, found("dp=2", {"arg0=dp,dp"}), "dp")
WRONG_USE(FixError, TooManyDimensions, found("dp=2", {"arg0=dp,_,_"}), "arg")
WRONG_USE(FixError, ArgumentAndTheResultThatBecomesIt, found("dp=2", {"arg0=dp,_", "result0=_,dp"}),
          "result0", "arg0", "leave one of them out")
WRONG_USE(FixError, BatchWithoutAxis, parse_fixes({"batch="}), "fix batch=", "batch=dp")
WRONG_USE(FixError, BatchTwice, parse_fixes({"batch=dp", "batch=tp"}), "batch=tp", "before")
WRONG_USE(FixError, BatchOverNoAxis, found("dp=2", {"batch=tp"}), "no axis \"tp\"")
WRONG_USE(FixError, MoreDevicesThanRows, found("dp=16", {"batch=dp"}), "8 rows", "16 devices",
          "at most 8")
WRONG_USE(FixError, BatchAsASharding, found("dp=2,tp=2", {"batch=dp,tp"}), "fix batch=dp,tp",
          "batch=dp+tp")
WRONG_USE(FixError, NoMemory, parse_fixes({"memory=0GB"}), "memory=0GB", "70GB")
WRONG_USE(FixError, MemoryThatIsNoNumber, parse_fixes({"memory=much"}), "memory=much")
WRONG_USE(FixError, MemoryTwice, parse_fixes({"memory=1GB", "memory=2GB"}), "before")
WRONG_USE(FixError, TooLittleMemory, found("dp=2", {"memory=1kB"}), "no plan takes less than",
          "there is a plan with", "of each device")
WRONG_USE(FixError, MeshLargerThanTheProgram, found("dp=128", {}), "dp=128",
          "larger than the program", "longest dimension has 64")

// The weight does not fit where it is whole, and does where it may be split.
WRONG_USE(FixError, WhatIsFixedLeavesTooLittle, found("dp=8", {"arg0=_,_", "memory=20kB"}),
          "there is a plan with", "or without arg0=_,_")

TEST(FixError, WhatIsSaidToBeEnoughIs) {
  const std::string why = found("dp=2", {"memory=1kB"}).reason();
  const std::string word = "there is a plan with ";
  const std::size_t begin = why.find(word) + word.size();
  std::string memory = why.substr(begin, why.find(" of each", begin) - begin);
  std::erase(memory, ' ');
  EXPECT_TRUE(found("dp=2", {"memory=" + memory}).ok()) << memory;
}

TEST(Fix, TheBatchLiesOverItsAxes) {
  EXPECT_TRUE(found("dp=2,tp=2", {"batch=dp"}).ok());
  EXPECT_TRUE(found("dp=2,tp=2", {"batch=dp+tp", "arg0=_,tp"}).ok());
}

// A key of a random generator is no batch: two words cannot lie over four devices.
TEST(Fix, ARandomKeyIsNoBatch) {
  const Program program = read_stablehlo(R"(
    func.func @main(%w: tensor<4x4xf32>, %x: tensor<8x4xf32>, %key: tensor<2xui32>) -> (tensor<4x4xf32>, tensor<2xui32>) {
      %y = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0]
        : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      %n = stablehlo.add %w, %y : tensor<4x4xf32>
      return %n, %key : tensor<4x4xf32>, tensor<2xui32>
    })",
                                         "key.mlir")
                              .value();
  const std::vector<Carried> carried{{0, 0}};
  const auto entries = batch_entries(program, program.functions[0], carried, "dp").value();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "arg1");
}

}  // namespace
}  // namespace heddle
