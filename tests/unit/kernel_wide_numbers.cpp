// f16 and bf16 that are computed in f32 and rounded where they are kept.
#include <gtest/gtest.h>

#include "kernel/wide_numbers.h"
#include "kernel_build.h"

namespace heddle::wide_number_tests {
namespace {

// Elements of two inputs and what is made of them.
struct OnePoint {
  Kernel kernel = named_kernel("point");
  std::uint32_t x, y, out;
  std::vector<double> numbers_x, numbers_y;

  OnePoint(DType type, DType out_type,
           const std::function<NodeId(StageBuilder&, NodeId x, NodeId y)>& write) {
    x = add_buffer(kernel, Reach::input, type, kCount);
    y = add_buffer(kernel, Reach::input, type, kCount);
    out = add_buffer(kernel, Reach::output, out_type, kCount);
    StageBuilder stage(kernel, {{.size = kCount}});
    const NodeId at = stage.loop(0);
    const NodeId left = stage.load(x, at), right = stage.load(y, at);
    stage.store(out, at, write(stage, left, right));
    Phase phase;
    phase.stages.push_back(stage.stage);
    kernel.phases.push_back(phase);
    for (int i = 0; i < kCount; ++i) {
      numbers_x.push_back(1 + i / 16.0);
      numbers_y.push_back(3 - i / 8.0);
    }
  }

  template <typename T>
  std::vector<T> inputs(const std::vector<double>& numbers) const {
    std::vector<T> made;
    for (double number : numbers) made.push_back(convert_scalar<T>(number));
    return made;
  }
  // What the kernel gives, as it is or with wide numbers.
  template <typename T, typename Out = T>
  std::vector<Out> results(bool wide) const {
    const Kernel run = wide ? with_wide_numbers(kernel) : kernel;
    const Verdict sound = verify(run);
    EXPECT_TRUE(sound) << sound.reason();
    KernelData data(run);
    data.set(x, inputs<T>(numbers_x));
    data.set(y, inputs<T>(numbers_y));
    const Verdict ran = data.run(run);
    EXPECT_TRUE(ran) << ran.reason();
    return data.get<Out>(out);
  }
  std::size_t count(ScalarOp op) const {
    std::size_t found = 0;
    const Kernel wide = with_wide_numbers(kernel);
    for (const Node& node : wide.phases[0].stages[0].nodes) found += node.op == op ? 1 : 0;
    return found;
  }

  static constexpr int kCount = 24;
};

NodeId chain(StageBuilder& s, NodeId x, NodeId y) {
  const NodeId product = s.op(ScalarOp::multiply, x, y);
  const NodeId sum = s.op(ScalarOp::add, product, s.op(ScalarOp::divide, y, x));
  return s.op(ScalarOp::subtract, sum, s.op(ScalarOp::maximum, product, x));
}

template <typename T>
void expect_rounded_once(DType type) {
  const OnePoint point(type, type, chain);
  const auto wide = point.results<T>(true);
  int differ = 0;
  const auto narrow = point.results<T>(false);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const auto x = static_cast<float>(point.numbers_x[i]),
               y = static_cast<float>(point.numbers_y[i]);
    const float exact = x * y + y / x - std::max(x * y, x);
    EXPECT_EQ(static_cast<float>(wide[i]), static_cast<float>(convert_scalar<T>(exact))) << i;
    differ += static_cast<float>(wide[i]) != static_cast<float>(narrow[i]) ? 1 : 0;
  }
  EXPECT_GT(differ, 0);  // else it shows nothing
}

TEST(WideNumbers, AreRoundedOnce) {
  expect_rounded_once<BF16>(DType::bf16);
  expect_rounded_once<F16>(DType::f16);
}

TEST(WideNumbers, OneRoundingForTwoOfAChain) {
  EXPECT_EQ(OnePoint(DType::bf16, DType::bf16, chain).count(ScalarOp::convert), 3U);
}

// What rounds nothing is not converted to and fro.
TEST(WideNumbers, ChoicesStayAsTheyAre) {
  const OnePoint point(DType::bf16, DType::bf16, [](StageBuilder& s, NodeId x, NodeId y) {
    return s.op(ScalarOp::maximum, x, s.op(ScalarOp::negate, y));
  });
  EXPECT_EQ(point.count(ScalarOp::convert), 0U);
  EXPECT_EQ(print(with_wide_numbers(point.kernel)), print(point.kernel));
}

// Comparisons see what would have been kept.
TEST(WideNumbers, ComparisonsAreOfRoundedNumbers) {
  const OnePoint point(DType::bf16, DType::i1, [](StageBuilder& s, NodeId x, NodeId y) {
    return s.op(ScalarOp::equal, s.op(ScalarOp::multiply, x, y),
                s.cast(s.cast(s.op(ScalarOp::multiply, x, y), DType::f32), DType::bf16));
  });
  const auto results = point.results<BF16, std::uint8_t>(true);
  for (std::uint8_t same : results) EXPECT_EQ(same, 1);
}

TEST(WideNumbers, ConversionsToF32TakeWhatWasComputed) {
  const OnePoint point(DType::bf16, DType::f32, [](StageBuilder& s, NodeId x, NodeId y) {
    return s.cast(s.op(ScalarOp::multiply, x, y), DType::f32);
  });
  const auto results = point.results<BF16, float>(true);
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i], static_cast<float>(point.numbers_x[i] * point.numbers_y[i])) << i;
}

TEST(WideNumbers, OtherTypesStayAsTheyAre) {
  const OnePoint point(DType::f32, DType::f32, chain);
  EXPECT_EQ(print(with_wide_numbers(point.kernel)), print(point.kernel));
}

}  // namespace
}  // namespace heddle::wide_number_tests
