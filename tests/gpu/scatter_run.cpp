// Scatters on a CUDA device give what the reference gives, bit by bit: updates are taken in their
// order.
#include <gmock/gmock.h>

#include <algorithm>

#include "../unit/scatter_programs.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/inputs.h"
#include "heddle/interpreter.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"

namespace heddle::scatter_run_tests {
namespace {

class GpuScatter : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
};

// Indices from -1 to `most`, so that some lie outside.
void expect_scattered(const std::string& text, int most) {
  const Program program = read_stablehlo(text).value();
  std::vector<Array> arguments;
  for (const Type& type : argument_types(program, program.functions[0]))
    arguments.push_back(random_array(type, arguments.size() + 1));
  std::uint32_t next = 7;
  for (std::int32_t& index : arguments[1].as_mutable<std::int32_t>()) {
    next = next * 1664525 + 1013904223;
    index = static_cast<std::int32_t>((next >> 8) % static_cast<std::uint32_t>(most + 2)) - 1;
  }
  Target target;
  target.options.device = *gpu::device();
  const auto executable = compile(program, target);
  ASSERT_TRUE(executable) << executable.reason();
  EXPECT_THAT(executable->steps().back().name, testing::HasSubstr("scatter"));
  EXPECT_EQ(executable->steps().back().kind, "library") << text;
  const auto want = interpret(program, program.functions[0], arguments).value();
  for (int turn = 0; turn < 2; ++turn) {
    const auto got = executable->run(arguments);
    ASSERT_TRUE(got) << got.reason();
    EXPECT_TRUE(std::ranges::equal(want[0].bytes(), (*got)[0].bytes())) << text;
  }
}

TEST_F(GpuScatter, RowsAgree) {
  expect_scattered(scatters::of_rows(500, 4000, 100, "f32"), 500);
  expect_scattered(scatters::of_rows(50, 300, 300, "f32"), 50);
  expect_scattered(scatters::of_rows(5000, 9000, 7, "f64"), 100);
}

TEST_F(GpuScatter, TypesAndRegionsAgree) {
  expect_scattered(scatters::of_rows(200, 3000, 33, "bf16"), 200);
  expect_scattered(scatters::of_rows(200, 3000, 33, "i32", "minimum"), 200);
  expect_scattered(scatters::of_rows(200, 3000, 64, "f16", ""), 200);
  expect_scattered(scatters::of_rows(200, 3000, 10, "i1", "or"), 200);
}

TEST_F(GpuScatter, ElementsAgree) { expect_scattered(scatters::of_elements(60, 80, 3000), 70); }

}  // namespace
}  // namespace heddle::scatter_run_tests
