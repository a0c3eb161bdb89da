// Sorts on a CUDA device give what the reference gives, bit by bit.
#include <gmock/gmock.h>

#include <algorithm>

#include "../unit/sort_programs.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/inputs.h"
#include "heddle/interpreter.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"

namespace heddle::sort_run_tests {
namespace {

class GpuSort : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
};

// Among them equal ones, both zeros, infinities and numbers that are none.
Array any_bits(const Type& type, std::uint64_t seed) {
  Array array = random_array(type, seed);
  dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto elements = array.as_mutable<T>();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if constexpr (FloatScalar<T>) {
        const double special[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, -NAN, 1, 1};
        if (i % 3 == 0) elements[i] = convert_scalar<T>(special[i * 7 / 3 % 8]);
      }
    }
  });
  return array;
}

void expect_sorted(const std::string& text, bool on_the_gpu = true) {
  const Program program = read_stablehlo(text).value();
  std::vector<Array> arguments;
  for (const Type& type : argument_types(program, program.functions[0]))
    arguments.push_back(any_bits(type, arguments.size() + 1));
  Target target;
  target.options.device = *gpu::device();
  const auto executable = compile(program, target);
  ASSERT_TRUE(executable) << executable.reason();
  bool is_on_host = false;
  for (const StepInfo& step : executable->steps())
    is_on_host = is_on_host || step.name.find("on the host") != std::string::npos;
  EXPECT_NE(is_on_host, on_the_gpu) << text;
  const auto want = interpret(program, program.functions[0], arguments).value();
  const auto got = executable->run(arguments);
  ASSERT_TRUE(got) << got.reason();
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(want[i].bytes(), (*got)[i].bytes())) << "result " << i << text;
}

TEST_F(GpuSort, LinesOfAllLengthsAgree) {
  for (const char* shape :
       {"3x1", "40x2", "1000x7", "33x64", "2x1000", "1x2048", "3x2049", "1x9000"})
    expect_sorted(sorts::with_numbers(shape, "f32", 1));
}

TEST_F(GpuSort, LinesAlongOtherDimensionsAgree) {
  expect_sorted(sorts::with_numbers("100x33", "f32", 0));
  expect_sorted(sorts::with_numbers("3x50x20", "bf16", 1));
  expect_sorted(sorts::with_numbers("2100x3", "i32", 0));
}

TEST_F(GpuSort, AllTypesAgree) {
  for (const char* type : {"f16", "bf16", "f64", "i1", "i8", "i16", "i64", "ui8", "ui32", "ui64"})
    for (const char* shape : {"5x300", "1x2300"})
      expect_sorted(sorts::with_numbers(shape, type, 1, type[1] == 'i' ? "LT" : "GT"));
}

TEST_F(GpuSort, FloatsAsJaxSortsThemAgree) {
  for (const char* type : {"f32", "f64", "f16", "bf16"})
    for (const char* shape : {"5x300", "1x2300"}) expect_sorted(sorts::of_floats(shape, type, 1));
}

// Long lines by several keys are the host's.
TEST_F(GpuSort, SeveralKeysAgree) {
  expect_sorted(sorts::by_two_keys("5x300", 1));
  expect_sorted(sorts::by_two_keys("300x5", 0));
  expect_sorted(sorts::by_two_keys("1x2100", 1), false);
}

}  // namespace
}  // namespace heddle::sort_run_tests
