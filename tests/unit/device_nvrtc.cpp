// NVRTC compiles the CUDA text of kernels for sm_90, on any machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../property/random_kernel.h"
#include "../property/random_program.h"
#include "../property/random_rows.h"
#include "../property/random_sweeps.h"
#include "device/cuda/fft_call.h"
#include "device/cuda/nvrtc.h"
#include "device/cuda/rearrange.h"
#include "device/cuda/scatter_text.h"
#include "device/cuda/select_scatter.h"
#include "device/cuda/sort_text.h"
#include "device/cuda/top_k.h"
#include "heddle/simplify.h"
#include "heddle/stablehlo.h"
#include "heddle/stitch.h"
#include "kernel/emit_cuda.h"
#include "kernel/lower_group.h"
#include "kernel_examples.h"
#include "nvrtc_environment.h"
#include "scatter_programs.h"
#include "sort_programs.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

class DeviceNvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    use_build_environment();
    const auto found = find_nvrtc();
    if (!found) GTEST_SKIP() << found.reason();
  }
  static std::string failure(const Kernel& kernel) {
    const Verdict fine = verify(kernel);
    if (!fine) return fine.reason();
    const auto code = compile_cuda(emit_cuda(kernel), "sm_90");
    return code ? "" : code.reason() + "\n" + emit_cuda(kernel);
  }
};

TEST_F(DeviceNvrtc, SaysWhatItFound) {
  EXPECT_THAT(*find_nvrtc(), HasSubstr("libnvrtc"));
  RecordProperty("nvrtc", *find_nvrtc());
}

TEST_F(DeviceNvrtc, CompilesTheExamples) {
  for (const Kernel& kernel :
       {examples::softmax(8, 16, 2), examples::softmax(3, 4, 1, DType::f16),
        examples::column_sum(9, 6, 3), examples::running_sum(2, 4),
        examples::running_columns(4096, 1024, 16),
        examples::running_columns(333, 77, 20, DType::bf16), examples::largest_place(4, 3),
        examples::scatter_add(4, 5, false), examples::padded(3, 2, 1)})
    EXPECT_EQ(failure(kernel), "") << kernel.name;
}

TEST_F(DeviceNvrtc, CompilesWhatGoesAroundTransforms) {
  for (DType type : {DType::f32, DType::f64}) {
    const auto code = compile_cuda(cuda::fft_text(type), "sm_90");
    EXPECT_TRUE(code) << code.reason();
  }
}

TEST_F(DeviceNvrtc, CompilesEveryOperation) {
  for (DType type : all_dtypes()) {
    if (!is_kernel_type(type)) continue;
    EXPECT_EQ(failure(examples::all_operations(type, type, 8)), "") << name(type);
  }
}

TEST_F(DeviceNvrtc, CompilesEveryConversionAndComparison) {
  EXPECT_EQ(failure(examples::all_conversions(4)), "");
  for (DType type : {DType::i1, DType::ui16, DType::i64, DType::bf16, DType::f64})
    EXPECT_EQ(failure(examples::all_operations(type, DType::i1, 8)), "");
}

TEST_F(DeviceNvrtc, CompilesKernelsOfPrograms) {
  int kernels = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    property::Dice dice(seed);
    const auto made = property::RandomProgram(property::Decisions(dice), {.most_ops = 30}).make();
    ASSERT_TRUE(made) << made.reason();
    const Program program = simplify(made->program).value();
    const auto plan = stitch(program, program.functions[0].body);
    ASSERT_TRUE(plan) << plan.reason();
    for (const StitchUnit& unit : plan->units)
      for (const StitchGroup& group : unit.kernels) {
        const auto kernel = lower_group(program, group, StitchOptions{}.machine);
        if (!kernel) continue;
        EXPECT_EQ(failure(*kernel), "");
        ++kernels;
      }
  }
  EXPECT_GT(kernels, 10);
}

TEST_F(DeviceNvrtc, CompilesManyKernelsAsOne) {
  const Kernel first = examples::all_operations(DType::f32, DType::f32, 8);
  const Kernel second = examples::all_conversions(4);
  ASSERT_TRUE(can_be_packed(first));
  const auto code = compile_cuda(emit_cuda_pack({&first, &second}, 7, 40), "sm_90");
  ASSERT_TRUE(code) << code.reason();
  ASSERT_EQ(code->functions.size(), 1u);
  EXPECT_EQ(code->functions[0].name, cuda_pack_name(0));
}

// Of kernels with several phases, a function for each.
TEST_F(DeviceNvrtc, CompilesManyKernelsOfTwoPhases) {
  const Kernel first = examples::column_sum(1001, 80, 5), second = examples::column_sum(90, 80, 5);
  ASSERT_TRUE(can_be_packed(first) && can_be_packed(second));
  const auto code = compile_cuda(emit_cuda_pack({&first, &second}, 9, 4), "sm_90");
  ASSERT_TRUE(code) << code.reason();
  ASSERT_EQ(code->functions.size(), 2u);
}

// Eight sweeps of 16384 columns: all rows that are held are in registers.
TEST_F(DeviceNvrtc, StencilsInOnePassSpillNothing) {
  property::WholeSweeps whole(property::jacobi(16384, 8));
  ASSERT_TRUE(whole.sweeps);
  const Kernel kernel = whole.kernel(512);
  CudaLimits limits{.shared_bytes = 227 << 10};
  auto code = compile_cuda(emit_cuda(kernel, limits), "sm_90");
  if (code && code->functions[0].spilled_bytes > 0) {
    limits.spare_registers = 64;  // as the device does
    code = compile_cuda(emit_cuda(kernel, limits), "sm_90");
  }
  ASSERT_TRUE(code) << code.reason();
  ASSERT_EQ(code->functions.size(), 1u);
  EXPECT_EQ(code->functions[0].spilled_bytes, 0);
  EXPECT_GT(code->functions[0].registers, 64);
}

TEST_F(DeviceNvrtc, CompilesRandomStencils) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    property::Dice dice(seed);
    property::WholeSweeps whole(property::RandomSweeps<property::Dice>(dice).make(60, 100, 3));
    if (!whole.sweeps) continue;
    ++found;
    EXPECT_EQ(failure(whole.kernel(16)), "");
  }
  EXPECT_GT(found, 4);
}

// What long rows keep does not go through memory, whatever the assembler makes of it.
TEST_F(DeviceNvrtc, RowsInRegistersSpillNothing) {
  for (const auto& [rows, columns] :
       {std::pair(65536, 1024), std::pair(16384, 4096), std::pair(2048, 32768),
        std::pair(512, 131072), std::pair(4096, 5003)}) {
    const Kernel kernel = examples::softmax(rows, columns, 1, DType::bf16);
    const CudaLimits limits{.shared_bytes = 227 << 10};
    const auto code = compile_cuda(emit_cuda(kernel, limits), "sm_90");
    ASSERT_TRUE(code) << code.reason();
    ASSERT_EQ(code->functions.size(), 1u);
    EXPECT_EQ(code->functions[0].spilled_bytes, 0) << columns;
    EXPECT_GT(code->functions[0].registers, 16) << columns;
    // What flies and what warps exchange have room, with what the system takes of each block.
    const CudaPhase launch = cuda_plan(kernel, limits).phases[0];
    EXPECT_LE(launch.shared_bytes + code->functions[0].shared_bytes, 227 << 10) << columns;
  }
}

TEST_F(DeviceNvrtc, RowsOfBlocksSpillNothing) {
  const CudaLimits limits{.shared_bytes = 227 << 10};
  for (const Kernel& kernel :
       {examples::block_scaled(16384, 32, 128), examples::block_scaled(2048, 256, 128),
        examples::block_scaled(9, 3, 16)}) {
    const auto code = compile_cuda(emit_cuda(kernel, limits), "sm_90");
    ASSERT_TRUE(code) << code.reason();
    for (const auto& function : code->functions) EXPECT_EQ(function.spilled_bytes, 0);
  }
}

TEST_F(DeviceNvrtc, ImagesSpillNothing) {
  const CudaLimits limits{.shared_bytes = 227 << 10, .most_cluster = 16};
  for (const Kernel& kernel :
       {examples::channel_norm(64, 2048, 320), examples::channel_norm(300, 256, 128),
        examples::channel_squares(64, 4096, 320)}) {
    const auto code = compile_cuda(emit_cuda(kernel, limits), "sm_90");
    ASSERT_TRUE(code) << code.reason();
    const CudaPlan plan = cuda_plan(kernel, limits);
    ASSERT_EQ(code->functions.size(), plan.phases.size());
    for (const CudaPhase& launch : plan.phases) {
      const auto function =
          std::ranges::find(code->functions, launch.function, &CudaFunction::name);
      ASSERT_NE(function, code->functions.end()) << launch.function;
      EXPECT_EQ(function->spilled_bytes, 0);
      EXPECT_LE(launch.shared_bytes + function->shared_bytes, 227 << 10);
    }
  }
}

TEST_F(DeviceNvrtc, CompilesRowsOfManyKinds) {
  const CudaLimits limits{.shared_bytes = 227 << 10};
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    property::Dice dice(seed);
    const std::int64_t columns = dice.pick({2056, 4096, 4100, 40000});
    const Kernel kernel = property::random_rows(dice, 64, columns, dice.between(0, 2));
    const Verdict fine = verify(kernel);
    ASSERT_TRUE(fine) << fine.reason();
    const auto code = compile_cuda(emit_cuda(kernel, limits), "sm_90");
    ASSERT_TRUE(code) << code.reason();
    for (const auto& function : code->functions) EXPECT_EQ(function.spilled_bytes, 0) << seed;
  }
}

TEST_F(DeviceNvrtc, AMistakeComesWithTheCompilersLog) {
  const auto code = compile_cuda("__global__ void f() { nonsense(); }", "sm_90");
  ASSERT_FALSE(code);
  EXPECT_THAT(code.reason(), HasSubstr("NVRTC cannot compile it for sm_90"));
  EXPECT_THAT(code.reason(), HasSubstr("nonsense"));
}

TEST_F(DeviceNvrtc, GradientsOfPoolingCompileWithoutSpills) {
  for (const char* type : {"f32", "f64", "f16", "bf16"}) {
    std::string text = R"(
      func.func @main(%x: tensor<8x13x13x16xT>, %s: tensor<8x7x6x16xT>, %z: tensor<T>) -> tensor<8x13x13x16xT> {
        %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
        ^bb0(%a: tensor<T>, %b: tensor<T>):
          %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<T>, tensor<T>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }, {
        ^bb0(%a: tensor<T>, %b: tensor<T>):
          %c = stablehlo.add %a, %b : tensor<T>
          stablehlo.return %c : tensor<T>
        }) : (tensor<8x13x13x16xT>, tensor<8x7x6x16xT>, tensor<T>) -> tensor<8x13x13x16xT>
        return %0 : tensor<8x13x13x16xT>
      })";
    for (std::size_t at = 0; (at = text.find("T>", at)) != std::string::npos;)
      text.replace(at, 1, type);
    const Program program = read_stablehlo(text).value();
    const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
    const auto texts = cuda::select_scatter_texts(program, op);
    ASSERT_TRUE(texts) << type;
    for (const std::string& text_of_one : {texts->choose, texts->give}) {
      const auto code = compile_cuda(text_of_one, "sm_90");
      ASSERT_TRUE(code) << code.reason() << text_of_one;
      EXPECT_EQ(code->functions.at(0).spilled_bytes, 0);
    }
  }
}

TEST_F(DeviceNvrtc, TheLargestOfRowsCompileWithoutSpills) {
  for (const char* type : {"64xf32", "64xbf16", "5000xi8", "5000xui32"}) {
    const std::string kept =
        fmt::format("5{}", std::string_view(type).substr(std::string_view(type).find('x')));
    const Program program = read_stablehlo(fmt::format(R"(
      func.func @main(%x: tensor<100x{0}>) -> tensor<100x{1}> {{
        %v, %i = chlo.top_k(%x, k = 5) : tensor<100x{0}> -> (tensor<100x{1}>, tensor<100x5xi32>)
        return %v : tensor<100x{1}>
      }})",
                                                       type, kept))
                                .value();
    const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
    const auto text = cuda::top_k_text(program, op);
    ASSERT_TRUE(text) << type;
    const auto code = compile_cuda(*text, "sm_90");
    ASSERT_TRUE(code) << code.reason() << *text;
    EXPECT_EQ(code->functions.at(0).spilled_bytes, 0);
  }
}

TEST_F(DeviceNvrtc, SortsCompileWithoutSpills) {
  for (const std::string& text :
       {sorts::with_numbers("30x50", "f32", 1), sorts::with_numbers("7x9000x3", "f64", 1, "GT"),
        sorts::of_floats("4x5000", "bf16", 1), sorts::of_floats("500x3", "f16", 0),
        sorts::with_numbers("6x80", "i1", 1), sorts::by_two_keys("10x400", 1)}) {
    const Program program = read_stablehlo(text).value();
    const auto& ops = program.region(program.functions[0].body).ops;
    const auto sort = cuda::SortText::of(program, program.op(ops[ops.size() - 2]));
    ASSERT_TRUE(sort) << text;
    std::vector<std::string> kernels = {sort->tiles()};
    if (sort->is_long()) kernels.insert(kernels.end(), {sort->merge(), sort->place()});
    for (const std::string& kernel : kernels) {
      const auto code = compile_cuda(kernel, "sm_90");
      ASSERT_TRUE(code) << code.reason() << kernel;
      EXPECT_EQ(code->functions.at(0).spilled_bytes, 0);
    }
  }
}

TEST_F(DeviceNvrtc, ScattersCompileWithoutSpills) {
  for (const std::string& text :
       {scatters::of_rows(500, 4000, 100, "f32"), scatters::of_rows(200, 3000, 33, "bf16"),
        scatters::of_rows(200, 3000, 64, "f16", ""), scatters::of_rows(200, 3000, 10, "i1", "or"),
        scatters::of_elements(60, 80, 3000)}) {
    const Program program = read_stablehlo(text).value();
    const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
    const auto scatter = cuda::ScatterText::of(program, op);
    ASSERT_TRUE(scatter) << text;
    for (const std::string& kernel :
         {scatter->keys(), scatter->combine(), cuda::SortText::of_keys(scatter->runs()).tiles()}) {
      const auto code = compile_cuda(kernel, "sm_90");
      ASSERT_TRUE(code) << code.reason() << kernel;
      EXPECT_EQ(code->functions.at(0).spilled_bytes, 0);
    }
  }
}

// Few updates, one large window, and many for few places are as well done by plain kernels.
TEST(DeviceScatter, WhatKernelsDoWellIsLeftToThem) {
  for (const std::string& text :
       {scatters::of_rows(500, 20, 100, "f32"), scatters::of_rows(4, 30000, 10, "f32"),
        scatters::of_inside(200)}) {
    const Program program = read_stablehlo(text).value();
    const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
    EXPECT_FALSE(cuda::ScatterText::of(program, op)) << text;
  }
}

// A NaN that has no place, and a long line by several keys: left to the host.
TEST(DeviceSort, WhatNoKernelSortsIsLeftToTheHost) {
  std::string unordered = sorts::with_numbers("30x50", "f32", 1);
  unordered.replace(unordered.find("TOTALORDER"), 10, "FLOAT");
  for (const std::string& text : {unordered, sorts::by_two_keys("2x5000", 1)}) {
    const Program program = read_stablehlo(text).value();
    const auto& ops = program.region(program.functions[0].body).ops;
    EXPECT_FALSE(cuda::SortText::of(program, program.op(ops[0]))) << text;
  }
}

// The kernel around convolutions has a function for words of 1 to 16 bytes, for few and for many.
TEST_F(DeviceNvrtc, TheRearrangingKernelCompilesWithoutSpills) {
  const auto code = compile_cuda(cuda::RearrangeKernels::source(), "sm_90");
  ASSERT_TRUE(code) << code.reason();
  EXPECT_EQ(code->functions.size(), 10U);
  for (const CudaFunction& f : code->functions) EXPECT_EQ(f.spilled_bytes, 0) << f.name;
}

// One that knows its sizes: rows of 7 with a zero at both ends, turned.
TEST_F(DeviceNvrtc, ARearrangementOfItsOwnCompilesWithoutSpills) {
  const Rearrangement what{
      .axes = {{.size = 5, .stride = 7}, {.size = 7, .stride = 1, .offset = -1}},
      .dims = {{.size = 9, .axis = 1}, {.size = 5, .axis = 0}}};
  const auto work = cuda::RearrangeWork::of(what, 2);
  ASSERT_TRUE(work);
  const auto code = compile_cuda(cuda::RearrangeKernels::source_of(*work), "sm_90");
  ASSERT_TRUE(code) << code.reason();
  ASSERT_EQ(code->functions.size(), 1U);
  EXPECT_EQ(code->functions[0].name, "rearrange");
  EXPECT_EQ(code->functions[0].spilled_bytes, 0);
}

}  // namespace
}  // namespace heddle
