// Executables: control flow, memory and errors, against the interpreter.
#include <gmock/gmock.h>

#include "compiled.h"
#include "device/cpu/jit.h"
#include "heddle/verify.h"

namespace heddle {
namespace {

using testing::HasSubstr;

TEST(Executable, ElementsOneAfterTheOther) {
  expect_same(R"(func.func @main(%a: tensor<4x5xf32>, %b: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %0 = stablehlo.add %a, %b : tensor<4x5xf32>
    %1 = stablehlo.multiply %0, %a : tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  })");
}

TEST(Executable, ArgumentsConstantsAndViewsAsResults) {
  expect_same(R"(func.func @main(%a: tensor<2x3xf32>) ->
      (tensor<2x3xf32>, tensor<6xf32>, tensor<2xi32>, tensor<2x3xf32>) {
    %c = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
    %r = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
    return %a, %r, %c, %a : tensor<2x3xf32>, tensor<6xf32>, tensor<2xi32>, tensor<2x3xf32>
  })");
}

TEST(Executable, NoElements) {
  expect_same(R"(func.func @main(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>, tensor<3xf32>) {
    %0 = stablehlo.add %a, %a : tensor<0x3xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] :
        (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
    return %0, %1 : tensor<0x3xf32>, tensor<3xf32>
  })");
}

// Carried values that change places, stay, are computed, and are constants.
constexpr const char* kLoop =
    R"(func.func @main(%a: tensor<5xf32>, %b: tensor<5xf32>, %n: tensor<i32>) ->
      (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<i32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %seven = stablehlo.constant dense<TURNS> : tensor<i32>
    %x = stablehlo.add %a, %b : tensor<5xf32>
    %y = stablehlo.subtract %a, %b : tensor<5xf32>
    %r:5 = stablehlo.while(%i = %zero, %p = %x, %q = %y, %s = %a, %t = %b)
        : tensor<i32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
      cond {
        %c = stablehlo.compare LT, %i, %seven : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %m = stablehlo.add %p, %s : tensor<5xf32>
        %w = stablehlo.reverse %t, dims = [0] : tensor<5xf32>
        stablehlo.return %j, %q, %m, %s, %w :
            tensor<i32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
      }
    return %r#1, %r#2, %r#4, %r#0 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<i32>
  })";

TEST(Executable, WhileTurns) {
  for (const char* turns : {"0", "1", "2", "7"}) {
    std::string text = kLoop;
    text.replace(text.find("TURNS"), 5, turns);
    expect_same(text);
  }
}

// What a loop gives is used after others have taken memory.
TEST(Executable, LoopResultsLiveOn) {
  for (const char* turns : {"2", "3"}) {
    std::string text = R"(func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.constant dense<TURNS> : tensor<i32>
      %x = stablehlo.reverse %a, dims = [0] : tensor<64xf32>
      %r:2 = stablehlo.while(%i = %zero, %p = %x) : tensor<i32>, tensor<64xf32>
        cond {
          %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %j = stablehlo.add %i, %one : tensor<i32>
          %q = stablehlo.reverse %p, dims = [0] : tensor<64xf32>
          %s = stablehlo.add %q, %a : tensor<64xf32>
          stablehlo.return %j, %s : tensor<i32>, tensor<64xf32>
        }
      %u = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
        ^bb0(%l: tensor<f32>, %k: tensor<f32>):
          %c = stablehlo.compare LT, %l, %k : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
      }) : (tensor<64xf32>) -> tensor<64xf32>
      %v = stablehlo.reverse %u, dims = [0] : tensor<64xf32>
      %w = stablehlo.add %v, %r#1 : tensor<64xf32>
      return %w : tensor<64xf32>
    })";
    text.replace(text.find("TURNS"), 5, turns);
    expect_same(text);
  }
}

TEST(Executable, LoopsInsideLoopsAndBranches) {
  expect_same(R"(func.func @main(%a: tensor<6xf32>) -> tensor<6xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %p = %a) : tensor<i32>, tensor<6xf32>
      cond {
        %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %in:2 = stablehlo.while(%k = %zero, %q = %p) : tensor<i32>, tensor<6xf32>
          cond {
            %c = stablehlo.compare LT, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %l = stablehlo.add %k, %one : tensor<i32>
            %m = stablehlo.reverse %q, dims = [0] : tensor<6xf32>
            %o = stablehlo.add %m, %a : tensor<6xf32>
            stablehlo.return %l, %o : tensor<i32>, tensor<6xf32>
          }
        %odd = stablehlo.compare EQ, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %b = "stablehlo.if"(%odd) ({
          %n = stablehlo.negate %in#1 : tensor<6xf32>
          stablehlo.return %n : tensor<6xf32>
        }, {
          stablehlo.return %a : tensor<6xf32>
        }) : (tensor<i1>) -> tensor<6xf32>
        %s = stablehlo.add %b, %in#1 : tensor<6xf32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %s : tensor<i32>, tensor<6xf32>
      }
    return %r#1 : tensor<6xf32>
  })");
}

TEST(Executable, CasesOutsideTakeTheLast) {
  for (const char* index : {"-1", "0", "1", "2", "9"}) {
    std::string text = R"(func.func @main(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %i = stablehlo.constant dense<INDEX> : tensor<i32>
      %k = stablehlo.optimization_barrier %i : tensor<i32>
      %r:2 = "stablehlo.case"(%k) ({
        stablehlo.return %a, %a : tensor<3xf32>, tensor<3xf32>
      }, {
        %n = stablehlo.negate %a : tensor<3xf32>
        stablehlo.return %n, %n : tensor<3xf32>, tensor<3xf32>
      }, {
        %n = stablehlo.add %a, %a : tensor<3xf32>
        stablehlo.return %a, %n : tensor<3xf32>, tensor<3xf32>
      }) : (tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>)
      return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
    })";
    text.replace(text.find("INDEX"), 5, index);
    expect_same(text);
  }
}

// A stack that a loop fills slice by slice, as scans do.
TEST(Executable, LoopsFillStacksInPlace) {
  const std::string text =
      R"(func.func @main(%a: tensor<4xf32>) -> (tensor<9x4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<9> : tensor<i32>
    %e = stablehlo.constant dense<0.0> : tensor<9x4xf32>
    %r:3 = stablehlo.while(%i = %zero, %p = %a, %s = %e)
        : tensor<i32>, tensor<4xf32>, tensor<9x4xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %q = stablehlo.add %p, %a : tensor<4xf32>
        %u = stablehlo.reshape %q : (tensor<4xf32>) -> tensor<1x4xf32>
        %t = stablehlo.dynamic_update_slice %s, %u, %i, %zero :
            (tensor<9x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<9x4xf32>
        stablehlo.return %j, %q, %t : tensor<i32>, tensor<4xf32>, tensor<9x4xf32>
      }
    return %r#2, %r#1 : tensor<9x4xf32>, tensor<4xf32>
  })";
  expect_same(text);
}

TEST(Executable, ArgumentsAreLeftAlone) {
  const Program program = read(R"(func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  })");
  const std::vector<Array> arguments = arguments_for(program);
  const Array before(arguments[0].type(), arguments[0].bytes());
  (void)compiled(program).run(arguments).value();
  EXPECT_EQ(arguments[0], before);
}

TEST(Executable, DonatedMemoryIsUsed) {
  if (const auto target = CpuJit().target(); !target) GTEST_SKIP() << target.reason();
  const Program program = read(R"(func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  })");
  const Executable executable = compiled(program, {.donated = {true}});
  std::vector<Array> given = {small_numbers(Type::tensor(DType::f32, {8}))};
  const std::byte* where = given[0].bytes().data();
  const Array kept(given[0].type(), given[0].bytes());
  const Array result = executable.run(std::move(given)).value()[0];
  EXPECT_EQ(result.bytes().data(), where);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(result.as<float>()[i], -kept.as<float>()[i]);
  // Somebody else still holds this one.
  const Array held(kept.type(), kept.bytes());
  const Array other = executable.run({held}).value()[0];
  EXPECT_NE(other.bytes().data(), held.bytes().data());
  EXPECT_EQ(held, kept);
}

std::int64_t peak_of(std::string_view second) {
  const Program program = read(fmt::format(R"(func.func @main(%a: tensor<64x64xf32>) ->
      tensor<64x64xf32> {{
    %0 = stablehlo.negate %a : tensor<64x64xf32>
    %1 = {} : tensor<64x64xf32>
    %2 = stablehlo.abs %1 : tensor<64x64xf32>
    return %2 : tensor<64x64xf32>
  }})",
                                           second));
  const CompileOptions options{.stitch = {.fuse = false, .machine = {}}};
  expect_same(program, arguments_for(program), options);
  return compiled(program, options).peak_bytes();
}

// Where elements stay in their places one buffer serves all; where they move it takes two.
TEST(Executable, KernelsWorkInPlaceWhereThatIsLegal) {
  if (const auto target = CpuJit().target(); !target) GTEST_SKIP() << target.reason();
  EXPECT_EQ(peak_of("stablehlo.multiply %0, %a"), 64 * 64 * 4);
  EXPECT_EQ(peak_of("stablehlo.reverse %0, dims = [1]"), 2 * 64 * 64 * 4);
}

TEST(Executable, LoopsThatWorkInPlaceNeedOneBuffer) {
  if (const auto target = CpuJit().target(); !target) GTEST_SKIP() << target.reason();
  const Program program = read(R"(func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<5> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %p = %a) : tensor<i32>, tensor<64x64xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %q = stablehlo.add %p, %a : tensor<64x64xf32>
        stablehlo.return %j, %q : tensor<i32>, tensor<64x64xf32>
      }
    return %r#1 : tensor<64x64xf32>
  })");
  expect_same(program, arguments_for(program));
  EXPECT_LT(compiled(program).peak_bytes(), 64 * 64 * 4 + 1000);
}

TEST(Executable, ResultsAreTheCallersToKeep) {
  const Program program = read(R"(func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.add %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  })");
  const Executable executable = compiled(program);
  const Array one = small_numbers(Type::tensor(DType::f32, {8}), 1);
  const Array two = small_numbers(Type::tensor(DType::f32, {8}), 2);
  const Array first = executable.run({one}).value()[0];
  const Array copy(first.type(), first.bytes());
  (void)executable.run({two}).value();
  EXPECT_EQ(first, copy);
}

TEST(Executable, WrongArguments) {
  const Program program = read(R"(func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  })");
  const Executable executable = compiled(program);
  EXPECT_THAT(executable.run({}).reason(), HasSubstr("takes 1 arguments, 0 came in"));
  EXPECT_THAT(executable.run({Array(Type::tensor(DType::f32, {7}))}).reason(),
              HasSubstr("argument 0 of function @main is tensor<8xf32>, tensor<7xf32> came in"));
}

TEST(Executable, ReasonsSayWhere) {
  const Program program = read(R"(func.func @main(%a: tensor<2xf32>) {
    %0 = stablehlo.negate %a : tensor<2xf32>
    check.expect_eq %0, %a : tensor<2xf32>
    return
  })");
  const auto got = compiled(program).run({small_numbers(Type::tensor(DType::f32, {2}), 3)});
  ASSERT_FALSE(got);
  EXPECT_THAT(got.reason(), HasSubstr("test.mlir:3:5"));
}

TEST(Executable, OverTheLimitNamesTheLargest) {
  const Program program = read(R"(func.func @main(%a: tensor<1000xf32>) -> tensor<1000x1000xf32> {
    %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
    %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64}> ({
      ^bb0(%l: tensor<f32>, %k: tensor<f32>):
        %c = stablehlo.compare LT, %l, %k : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
    }) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
    return %1 : tensor<1000x1000xf32>
  })");
  const auto got = compile(program, {.memory_limit = 6'000'000});
  ASSERT_FALSE(got);
  EXPECT_THAT(
      got.reason(),
      HasSubstr("memory: values need 8.0 MB at once, arguments included, and the limit is 6.0 MB"));
  EXPECT_THAT(got.reason(),
              HasSubstr("4.0 MB  tensor<1000x1000xf32>  broadcast_in_dim at test.mlir:2:10"));
  EXPECT_EQ(compiled(program).peak_bytes(), 8'000'000);
}

// Constants larger than any memory, as the operand of a scatter, the start of a loop and a result.
TEST(Executable, CompilingTakesNoMemoryForValues) {
  const Program program = read(R"(
  func.func @main(%u: tensor<8xf32>, %i: tensor<1xi32>) ->
      (tensor<4194304x4194304x8xf32>, tensor<4194304x4194304x8xf32>, tensor<4194304x4194304x8xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<4194304x4194304x8xf32>
    %s = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [0], inserted_window_dims = [0, 1],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 0>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %a = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %a : tensor<f32>
    }) : (tensor<4194304x4194304x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<4194304x4194304x8xf32>
    %c = stablehlo.constant dense<5.0> : tensor<4194304x4194304x8xf32>
    %n = stablehlo.constant dense<0> : tensor<i32>
    %w:2 = stablehlo.while(%k = %n, %v = %c) : tensor<i32>, tensor<4194304x4194304x8xf32>
      cond {
        %m = stablehlo.constant dense<3> : tensor<i32>
        %p = stablehlo.compare LT, %k, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %k, %one : tensor<i32>
        %t = stablehlo.tanh %v : tensor<4194304x4194304x8xf32>
        stablehlo.return %next, %t : tensor<i32>, tensor<4194304x4194304x8xf32>
      }
    return %s, %w#1, %c : tensor<4194304x4194304x8xf32>, tensor<4194304x4194304x8xf32>, tensor<4194304x4194304x8xf32>
  })");
  const auto got = compile(program);
  ASSERT_TRUE(got) << got.reason();
}

TEST(Executable, UnknownEntry) {
  const Program program = read("func.func @main() { return }");
  EXPECT_EQ(compile(program, {.entry = "other"}).reason(), "test.mlir has no function @other");
}

TEST(Executable, CollectivesOfOneDevice) {
  const Program program = read(R"(func.func @main(%a: tensor<2xf32>) -> tensor<ui32> {
    %0 = stablehlo.partition_id : tensor<ui32>
    return %0 : tensor<ui32>
  })");
  const Executable executable = compiled(program);
  EXPECT_EQ(executable.interpreted_because(), "");
  EXPECT_EQ(executable.run(arguments_for(program)).value()[0].as<std::uint32_t>()[0], 0U);
}

TEST(Executable, OpsOneByOneGiveTheSame) {
  expect_same(R"(func.func @main(%a: tensor<4x5xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4x5xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] :
        (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  })",
              {.stitch = {.fuse = false, .machine = {}}});
}

// A scan of one long line has nothing beside it that could run, and is a kernel all the same: the
// reference would take its square.
TEST(Executable, ScansOfOneLongLineAreKernels) {
  constexpr std::int64_t kLength = 200'003;
  const Program program =
      read(fmt::format(R"(func.func @main(%x: tensor<{0}xf32>) -> tensor<{0}xf32> {{
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = "stablehlo.reduce_window"(%x, %z) <{{padding = dense<[[{1}, 0]]> : tensor<1x2xi64>,
        window_dimensions = array<i64: {0}>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
    }}) : (tensor<{0}xf32>, tensor<f32>) -> tensor<{0}xf32>
    return %s : tensor<{0}xf32>
  }})",
                       kLength, kLength - 1));
  const Executable executable = compiled(program);
  for (const StepInfo& step : executable.steps()) EXPECT_EQ(step.kind, "kernel") << step.name;
  const std::vector<Array> arguments = arguments_for(program);
  const std::vector<Array> got = executable.run(arguments).value();
  const auto x = arguments[0].as<float>();
  const auto sums = got[0].as<float>();
  float sum = 0;  // of small whole numbers, so that it is exact
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    ASSERT_EQ(sums[i], sum) << i;
  }
}

}  // namespace
}  // namespace heddle
