// Convolutions on a CUDA device, by cuDNN and without it, give what the reference gives.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "../unit/random_conv.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"

namespace heddle::conv_run_tests {
namespace {

class GpuConvolution : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
  void TearDown() override { ::unsetenv("HEDDLE_CUDNN"); }
};

struct Counted {
  int drawn = 0, dnn = 0, product = 0, host = 0;
};

// The first element that is not as near as its type allows: some ways of the library round on the
// way.
std::string difference(const Array& want, const Array& got) {
  return dispatch(want.dtype(), [&](auto tag) -> std::string {
    using T = typename decltype(tag)::type;
    if constexpr (FloatScalar<T>) {
      const double near = sizeof(T) == 8 ? 1e-9 : sizeof(T) == 4 ? 1e-4 : 0.02;
      for (std::size_t i = 0; i < want.as<T>().size(); ++i) {
        const auto a = static_cast<double>(want.as<T>()[i]);
        const auto b = static_cast<double>(got.as<T>()[i]);
        if (!(std::fabs(a - b) <= near * (1 + std::fabs(a))))
          return fmt::format("element {} is {} instead of {}", i, b, a);
      }
    }
    return "";
  });
}

Counted compare_all(DType dtype) {
  Counted counted;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const auto drawn = random_conv::draw(seed, dtype);
    if (!drawn) continue;
    const Program& program = drawn->program;
    const auto want = interpret(program, program.functions[0], drawn->arguments).value();
    Target target;
    target.options.device = *gpu::device();
    const auto executable = compile(program, target);
    if (!executable) {
      ADD_FAILURE() << "seed " << seed << ": " << executable.reason();
      continue;
    }
    const auto got = executable->run(drawn->arguments);
    if (!got) {
      ADD_FAILURE() << "seed " << seed << ": " << got.reason() << "\n" << drawn->text;
      return counted;
    }
    ++counted.drawn;
    for (const StepInfo& step : executable->steps()) {
      counted.dnn += step.name.starts_with("cudnn") ? 1 : 0;
      counted.product += step.name.find("as a product") != std::string::npos ? 1 : 0;
      counted.host += step.name.find("on the host") != std::string::npos ? 1 : 0;
    }
    const std::string found = difference(want[0], (*got)[0]);
    if (!found.empty())
      ADD_FAILURE() << "seed " << seed << " (" << executable->steps()[0].name << ") " << found
                    << "\n"
                    << drawn->text;
  }
  std::printf("%s: %d convolutions, %d by cuDNN, %d as products, %d on the host\n",
              std::string(name(dtype)).c_str(), counted.drawn, counted.dnn, counted.product,
              counted.host);
  return counted;
}

TEST_P(GpuConvolution, AllFormsAgree) {
  const Counted counted = compare_all(GetParam());
  EXPECT_GT(counted.drawn, 50);
  EXPECT_EQ(counted.host, 0);
}

TEST_P(GpuConvolution, AllFormsAgreeWithoutTheLibrary) {
  ::setenv("HEDDLE_CUDNN", "0", 1);
  const Counted counted = compare_all(GetParam());
  EXPECT_EQ(counted.dnn, 0);
  EXPECT_EQ(counted.host, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, GpuConvolution,
                         ::testing::Values(DType::f32, DType::f64, DType::f16, DType::bf16),
                         [](const auto& type) { return std::string(name(type.param)); });

}  // namespace
}  // namespace heddle::conv_run_tests
