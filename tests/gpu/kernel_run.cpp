// Kernels run on a CUDA device and give what the kernel interpreter gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "../property/random_kernel.h"
#include "../property/random_rows.h"
#include "../property/random_sweeps.h"
#include "../unit/kernel_examples.h"
#include "gpu_device.h"

namespace heddle {
namespace {

class GpuKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
  static Device& device() { return **gpu::device(); }
};

// How far apart two numbers are, in units of the last place of the larger; NaNs are equal.
template <typename T>
double units_apart(T a, T b) {
  if constexpr (FloatScalar<T>) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    if (!std::isfinite(x) || !std::isfinite(y)) return HUGE_VAL;
    const int digits = [] {
      if constexpr (is_small_float_v<T>)
        return T::format.mantissa_bits;
      else
        return std::numeric_limits<T>::digits - 1;
    }();
    const double larger = std::max(std::fabs(x), std::fabs(y));
    return std::fabs(x - y) / std::max(std::ldexp(1.0, std::ilogb(larger) - digits), 1e-320);
  } else {
    return a == b ? 0 : HUGE_VAL;
  }
}

// Runs both; what differs by more than so many units of the last place, in words.
std::string difference(const Kernel& kernel, const KernelData& inputs, Device& device,
                       double units) {
  KernelData expected = inputs, got = inputs;
  if (const Verdict ran = expected.run(kernel); !ran) return ran.reason();
  std::vector<std::span<std::byte>> spans(got.bytes.begin(), got.bytes.end());
  if (const Verdict ran = gpu::run_kernel(device, kernel, spans); !ran) return ran.reason();
  for (std::uint32_t b = 0; b < kernel.buffers.size(); ++b) {
    if (kernel.buffers[b].reach != Reach::output) continue;
    std::string found = dispatch(kernel.buffers[b].dtype, [&](auto tag) -> std::string {
      using T = typename decltype(tag)::type;
      const auto want = expected.get<T>(b), have = got.get<T>(b);
      for (std::size_t i = 0; i < want.size(); ++i)
        if (units_apart(want[i], have[i]) > units) {
          const Type scalar = Type::tensor(kernel.buffers[b].dtype, {});
          return fmt::format("buffer {} element {}: {} on the device, {} expected", b, i,
                             element_text(make_array<T>(scalar, {have[i]}), 0),
                             element_text(make_array<T>(scalar, {want[i]}), 0));
        }
      return "";
    });
    if (!found.empty()) return found + "\n" + print(kernel);
  }
  return "";
}

KernelData with_inputs(const Kernel& kernel, std::uint64_t seed) {
  KernelData data(kernel);
  property::Dice dice(seed);
  property::fill_inputs(kernel, data, dice);
  return data;
}

TEST_F(GpuKernel, ExamplesAgree) {
  for (const Kernel& kernel :
       {examples::softmax(100, 300, 2), examples::softmax(33, 64, 4, DType::bf16),
        examples::softmax(5, 7, 1, DType::f16), examples::column_sum(1001, 77, 5),
        examples::running_sum(40, 129), examples::largest_place(50, 31),
        examples::scatter_add(12, 400, false), examples::padded(1000, 13, 7),
        examples::gained(3, 4000, 320, true), examples::gained(300, 77, 24, true),
        examples::inner_sum(2, 3000, 320), examples::inner_sum(200, 300, 72)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 1), device(), 32), "") << kernel.name;
}

TEST_F(GpuKernel, EveryOperationAgrees) {
  for (DType from : all_dtypes())
    for (DType to : {from, DType::i1}) {
      if (!is_kernel_type(from)) continue;
      const Kernel kernel = examples::all_operations(from, to, 200);
      EXPECT_EQ(difference(kernel, with_inputs(kernel, 3), device(), 4), "") << name(from);
    }
}

TEST_F(GpuKernel, EveryConversionAgrees) {
  const Kernel kernel = examples::all_conversions(200);
  EXPECT_EQ(difference(kernel, with_inputs(kernel, 4), device(), 0), "");
}

TEST_F(GpuKernel, LongRowsAgree) {
  for (const Kernel& kernel :
       {examples::softmax(300, 32768, 1, DType::bf16), examples::softmax(300, 4104, 1),
        examples::softmax(37, 128256, 1, DType::bf16), examples::softmax(70, 40000, 1)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 1), device(), 1024), "") << kernel.name;
}

TEST_F(GpuKernel, RowsOfBlocksAgreeExactly) {
  for (const Kernel& kernel :
       {examples::block_scaled(37, 32, 128), examples::block_scaled(301, 3, 16),
        examples::block_scaled(50, 5, 64, DType::f32), examples::block_scaled(9, 130, 256),
        examples::block_scaled(3, 2048, 32), examples::block_scaled(40, 16, 8)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 2), device(), 0), "") << print(kernel);
}

// More images than clusters of 16 can have at a time, so that slices of the next ones fly; and of
// one block each.
TEST_F(GpuKernel, ImagesAgreeExactly) {
  for (const Kernel& kernel :
       {examples::channel_norm(20, 256, 128), examples::channel_norm(8, 2048, 224, DType::f32)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 5), device(), 0), "");
}

// Chunks have many rows each, so that every place where rows lie is filled several times.
TEST_F(GpuKernel, RandomRowsAgreeExactly) {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    property::Dice dice(seed);
    const std::int64_t columns =
        dice.pick({1040, 2048, 2056, 4096, 4100, 8192, 12304, 16384, 40000, 100096});
    const std::int64_t chunks = dice.between(1, 3);
    const std::int64_t rows = dice.between(5, columns > 20000 ? 12 : 30);
    const Kernel kernel = property::random_rows(dice, rows, columns, chunks);
    ASSERT_EQ(difference(kernel, with_inputs(kernel, seed), device(), 0), "") << "seed " << seed;
  }
}

TEST_F(GpuKernel, ManyRandomRowsAgreeExactly) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    property::Dice dice(seed);
    const Kernel kernel = property::random_rows(dice, 1501, dice.pick({1536, 2064}), 0);
    ASSERT_EQ(difference(kernel, with_inputs(kernel, seed), device(), 0), "") << "seed " << seed;
  }
}

TEST_F(GpuKernel, RandomStencilsAgreeExactly) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    property::Dice dice(seed);
    property::WholeSweeps whole(property::RandomSweeps<property::Dice>(dice).make(
        dice.between(30, 300), dice.between(60, 500), dice.between(2, 6)));
    if (!whole.sweeps) continue;
    ++found;
    const Kernel kernel = whole.kernel(dice.between(10, 100));
    ASSERT_EQ(difference(kernel, with_inputs(kernel, seed), device(), 0), "") << "seed " << seed;
  }
  EXPECT_GT(found, 8);
}

TEST_F(GpuKernel, RandomKernelsAgreeExactly) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    property::Dice dice(seed);
    const Kernel kernel = property::random_kernel(dice, true);
    ASSERT_EQ(difference(kernel, with_inputs(kernel, seed), device(), 0), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace heddle
