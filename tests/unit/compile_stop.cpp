// Compiling and running that somebody stops: it ends with a reason, and what comes after it works.
#include <gmock/gmock.h>

#include <atomic>

#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"

namespace heddle {
namespace {

using testing::HasSubstr;

// Halves as long as the first number is below two: without end for all that is.
Program endless() {
  return read_stablehlo(R"(
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %half = stablehlo.constant dense<0.5> : tensor<8xf32>
      %two = stablehlo.constant dense<2.0> : tensor<f32>
      %0 = stablehlo.while(%y = %x) : tensor<8xf32> cond {
        %1 = stablehlo.slice %y [0:1] : (tensor<8xf32>) -> tensor<1xf32>
        %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
        %3 = stablehlo.compare LT, %2, %two : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %3 : tensor<i1>
      } do {
        %4 = stablehlo.multiply %y, %half : tensor<8xf32>
        stablehlo.return %4 : tensor<8xf32>
      }
      return %0 : tensor<8xf32>
    })")
      .value();
}

TEST(Stop, EndsARunBetweenSteps) {
  const Executable executable = compile(endless()).value();
  int asked = 0;
  const RunOptions options{.stop = [&] { return ++asked == 100; }};
  const Array x(Type::tensor(DType::f32, {8}));
  EXPECT_THAT(executable.run({x}, options).reason(), HasSubstr("the run was stopped before step"));
  EXPECT_EQ(asked, 100);
}

TEST(Stop, EndsARunOfAllDevicesAndTheNextOneWorks) {
  Target target = mesh_target("dp=2", {"arg0=dp"}).value();
  Deployment devices = Deployment::open(compile(endless(), target).value()).value();
  std::atomic<bool> stop = true;
  const RunOptions options{.stop = [&] { return stop.load(); }};
  const Type type = Type::tensor(DType::f32, {8});
  const auto stopped = devices.run_whole({Array(type)}, options);
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.reason(), HasSubstr("the run was stopped"));

  stop = false;
  Array large(type);
  for (float& number : large.as_mutable<float>()) number = 4;
  EXPECT_EQ(devices.run_whole({large}, options).value()[0].as<float>()[7], 4);
}

TEST(Stop, EndsALoopThatIsInterpreted) {
  const Program program = endless();
  int asked = 0;
  InterpretOptions options;
  options.stop = [&] { return ++asked == 100; };
  const Array x(Type::tensor(DType::f32, {8}));
  const auto stopped = interpret(program, *program.find_function("main"), {x}, options);
  EXPECT_THAT(stopped.reason(), HasSubstr("the run was stopped"));
  EXPECT_EQ(asked, 100);
}

TEST(Stop, EndsCompilingAfterAStage) {
  CompileOptions options;
  options.stop = [] { return true; };
  EXPECT_THROW((void)compile(endless(), options), Error);
}

}  // namespace
}  // namespace heddle
