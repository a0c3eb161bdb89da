// The text of compiled kernels: vectors, masks, calls and where things stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/emit_llvm.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr VectorTarget kWide{VectorTarget::Family::x86, 64, false};

std::string text_of(const Kernel& kernel, const VectorTarget& target = kWide) {
  const auto text = emit_llvm(kernel, target);
  return text ? *text : text.reason();
}

// y[i] = op(x[i]) for i < n.
Kernel mapped(std::int64_t n, ScalarOp op, DType from = DType::f32, DType to = DType::f32) {
  Kernel kernel = named_kernel("mapped");
  const auto x = add_buffer(kernel, Reach::input, from, n);
  const auto y = add_buffer(kernel, Reach::output, to, n);
  StageBuilder s(kernel, {{n, -1}});
  const NodeId at = s.loop(0);
  s.store(y, at, s.cast(s.load(x, at), to, op));
  kernel.phases.emplace_back().stages.push_back(s.stage);
  return kernel;
}

TEST(KernelEmitLlvm, VectorsAreAsWideAsTheTargetAndTheWidestType) {
  EXPECT_THAT(text_of(mapped(128, ScalarOp::sqrt)), HasSubstr("load <16 x float>"));
  EXPECT_THAT(text_of(mapped(128, ScalarOp::sqrt), {VectorTarget::Family::x86, 32, false}),
              HasSubstr("load <8 x float>"));
  EXPECT_THAT(text_of(mapped(128, ScalarOp::convert, DType::f32, DType::i8)),
              HasSubstr("store <16 x i8>"));
  EXPECT_THAT(text_of(mapped(128, ScalarOp::convert, DType::f64, DType::f32)),
              HasSubstr("load <8 x double>"));
  EXPECT_THAT(text_of(mapped(128, ScalarOp::negate, DType::i8, DType::i8)),
              HasSubstr("load <64 x i8>"));
}

TEST(KernelEmitLlvm, WholeVectorsNeedNoMaskAndTailsHaveOne) {
  EXPECT_THAT(text_of(mapped(128, ScalarOp::sqrt)), Not(HasSubstr("masked")));
  const std::string tail = text_of(mapped(130, ScalarOp::sqrt));
  EXPECT_THAT(tail, HasSubstr("llvm.masked.load.v16f32.p0"));
  EXPECT_THAT(tail, HasSubstr("<i1 true, i1 true, i1 false, i1 false,"));
}

TEST(KernelEmitLlvm, IndicesDecideHowIsLoaded) {
  Kernel kernel = named_kernel("strides");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, 64 * 64);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, 64);
  StageBuilder s(kernel, {{64, -1}});
  const NodeId at = s.loop(0);
  const NodeId column = s.load(x, s.scaled(at, 64)), one = s.load(x, s.index(5));
  s.store(y, at, s.add(column, one));
  kernel.phases.emplace_back().stages.push_back(s.stage);
  const std::string text = text_of(kernel);
  EXPECT_THAT(text, HasSubstr("llvm.masked.gather.v16f32.v16p0"));
  // Indices that fit are 32 bits wide, so that they fill one vector.
  EXPECT_THAT(text, HasSubstr("<16 x i32>"));
  EXPECT_THAT(text, Not(HasSubstr("<16 x i64>")));
  EXPECT_THAT(text, HasSubstr("load float"));
}

TEST(KernelEmitLlvm, BoundariesBetweenVectorsAreNoGathers) {
  // A row-major index of 4 rows of 32, taken apart and put together again.
  Kernel kernel = named_kernel("reshape");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, 32 * 4);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, 128);
  StageBuilder s(kernel, {{128, -1}});
  const NodeId at = s.loop(0);
  const NodeId row = s.op(ScalarOp::divide, at, s.index(32));
  const NodeId column = s.op(ScalarOp::remainder, at, s.index(32));
  const NodeId turned = s.op(ScalarOp::subtract, s.index(3), row);
  s.store(y, at, s.load(x, s.add(s.scaled(turned, 32), column)));
  kernel.phases.emplace_back().stages.push_back(s.stage);
  EXPECT_THAT(text_of(kernel), Not(HasSubstr("gather")));
}

TEST(KernelEmitLlvm, SumsAreKeptInSeveralVectors) {
  const std::string text = text_of(examples::softmax(64, 2048));
  EXPECT_THAT(text, HasSubstr("llvm.vector.reduce.fadd.v16f32"));
  EXPECT_THAT(text, HasSubstr("mask.range.ps.512"));
  std::size_t maxima = 0;
  for (std::size_t at = 0;
       (at = text.find("@llvm.x86.avx512.mask.range.ps.512(<16", at)) != std::string::npos; ++at)
    ++maxima;
  EXPECT_GE(maxima, 4U);
}

TEST(KernelEmitLlvm, StreamedResultsGoPastTheCaches) {
  Kernel kernel = mapped(128, ScalarOp::sqrt);
  kernel.buffers[1].streamed = true;
  EXPECT_THAT(text_of(kernel), HasSubstr("align 64, !nontemporal"));
  EXPECT_THAT(text_of(kernel), HasSubstr("sfence"));
  kernel.buffers[1].streamed = false;
  EXPECT_THAT(text_of(kernel), Not(HasSubstr(", !nontemporal")));
}

TEST(KernelEmitLlvm, FunctionsComeFromTheLibraryOfTheTarget) {
  EXPECT_THAT(text_of(mapped(64, ScalarOp::log1p)), HasSubstr("@Sleef_log1pf16_u10avx512f("));
  EXPECT_THAT(text_of(mapped(64, ScalarOp::log, DType::f64, DType::f64)),
              HasSubstr("@Sleef_logd8_u10avx512f("));
  EXPECT_THAT(text_of(mapped(64, ScalarOp::log1p), {VectorTarget::Family::arm, 16, false}),
              HasSubstr("@Sleef_log1pf4_u10advsimd("));
  EXPECT_THAT(text_of(mapped(64, ScalarOp::log1p), {VectorTarget::Family::generic, 16, false}),
              HasSubstr("@log1pf(float"));
  EXPECT_THAT(text_of(mapped(64, ScalarOp::exp)), Not(HasSubstr("@Sleef")));
  const std::string sine = text_of(mapped(64, ScalarOp::sin, DType::f64, DType::f64));
  EXPECT_THAT(sine, HasSubstr("@heddle_quarters = external constant"));
  EXPECT_THAT(sine, Not(HasSubstr("@Sleef")));
  EXPECT_THAT(sine, Not(HasSubstr("vpmadd52")));
  EXPECT_THAT(text_of(mapped(64, ScalarOp::sin, DType::f64, DType::f64),
                      {VectorTarget::Family::x86, 64, false, true}),
              HasSubstr("vpmadd52"));
}

TEST(KernelEmitLlvm, FloatsAreRegroupedOnlyOnRequest) {
  Kernel kernel = named_kernel("sum");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, 64);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, 64);
  StageBuilder s(kernel, {{64, -1}});
  const NodeId at = s.loop(0);
  s.store(y, at, s.add(s.load(x, at), s.load(x, at)));
  kernel.phases.emplace_back().stages.push_back(s.stage);
  EXPECT_THAT(text_of(kernel), HasSubstr("fadd <16 x float>"));
  EXPECT_THAT(text_of(kernel, {VectorTarget::Family::x86, 64, true}),
              HasSubstr("fadd reassoc nsz arcp contract afn <16 x float>"));
}

TEST(KernelEmitLlvm, OtherTypesAreRefused) {
  Kernel kernel = mapped(64, ScalarOp::convert, DType::f32, DType::f32);
  kernel.buffers[0].dtype = DType::c64;
  const auto text = emit_llvm(kernel, kWide);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.reason(), HasSubstr("a kernel holds complex<f32>, but kernels compute with"));
}

}  // namespace
}  // namespace heddle
