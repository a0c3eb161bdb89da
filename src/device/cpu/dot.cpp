// dot_general by matrix products. Operands are copied only where no order of loops around a product
// reads them as they lie.
#include <cmath>

#include "device/cpu/calls.h"
#include "device/cpu/choose_library.h"
#include "device/cpu/element.h"
#include "device/cpu/gemm.h"
#include "device/cpu/places.h"
#include "heddle/op.h"
#include "stitch/product_plan.h"

namespace heddle::cpu {

namespace {

GemmBatch batch_of(const ProductPlan& plan, DType dtype) {
  GemmBatch batch{.dtype = dtype, .shape = {}, .loops = {}};
  batch.shape = {.m = plan.m,
                 .n = plan.n,
                 .k = plan.k,
                 .lda = plan.lda,
                 .ldb = plan.ldb,
                 .ldc = plan.ldc,
                 .transpose_a = plan.transpose_a,
                 .transpose_b = plan.transpose_b};
  for (const ProductLoop& loop : plan.loops)
    batch.loops.push_back({loop.size, loop.a, loop.b, loop.c});
  return batch;
}

class DotCall final : public LibraryCall {
 public:
  DotCall(ProductPlan plan, DType lhs, DType rhs, const Type& result, DType dtype)
      : plan_(std::move(plan)),
        batch_(batch_of(plan_, dtype)),
        types_{lhs, rhs},
        result_(result),
        dtype_(dtype) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      copy_at_[i] = at;
      if (plan_.sides[i].copied) at += rounded_up(plan_.sides[i].elements * byte_size(dtype));
    }
    result_at_ = at;
  }

  std::string text() const override {
    const GemmShape& s = batch_.shape;
    std::string text = fmt::format("gemm {}x{}x{} {}", s.m, s.n, s.k, name(dtype_));
    std::int64_t turns = 1;
    for (const GemmLoop& loop : batch_.loops) turns *= loop.count;
    if (turns > 1) text += fmt::format(" x{}", turns);
    if (plan_.sides[0].copied) text += ", left copied";
    if (plan_.sides[1].copied) text += ", right copied";
    return text;
  }

  std::int64_t workspace_bytes() const override { return result_at_ + result_bytes(); }

  StepWork work() const override {
    const GemmShape& s = batch_.shape;
    double count = 1;
    for (const GemmLoop& loop : batch_.loops) count *= static_cast<double>(loop.count);
    StepWork all;
    all.products.push_back(
        {static_cast<double>(s.m), static_cast<double>(s.n), static_cast<double>(s.k), count,
         static_cast<double>(byte_size(dtype_)) / 4,
         static_cast<double>(gemm_parts(batch_, ThreadPool::shared().threads()))});
    for (std::size_t i = 0; i < 2; ++i)
      if (plan_.sides[i].copied) all.alone += packed_work(plan_.sides[i].walk, types_[i] != dtype_);
    if (result_bytes() > 0) all.alone += packed_work({{result_.elements(), 1}}, true);
    return all;
  }

  Verdict run(const CallFrame& frame) const override {
    std::byte* c = result_bytes() > 0 ? frame.workspace + result_at_ : frame.results[0];
    const std::byte* a = operand(frame, plan_.swapped ? 1 : 0);
    const std::byte* b = operand(frame, plan_.swapped ? 0 : 1);
    run_gemm(batch_, a, b, c, frame.pool);
    if (result_bytes() > 0)
      pack(c, dtype_, {{result_.elements(), 1}}, frame.results[0], result_.dtype, frame.pool);
    return yes();
  }

 private:
  // Its first element, of a copy where it needs one.
  const std::byte* operand(const CallFrame& frame, std::size_t i) const {
    const ProductPlan::Side& side = plan_.sides[i];
    const std::byte* from = frame.operands[i] + side.offset * byte_size(types_[i]);
    if (!side.copied) return from;
    std::byte* copy = frame.workspace + copy_at_[i];
    pack(from, types_[i], side.walk, copy, dtype_, frame.pool);
    return copy;
  }

  std::int64_t result_bytes() const {
    return result_.dtype == dtype_ ? 0 : result_.elements() * byte_size(dtype_);
  }

  ProductPlan plan_;
  GemmBatch batch_;
  std::array<DType, 2> types_;
  Type result_;
  DType dtype_;
  std::array<std::int64_t, 2> copy_at_ = {0, 0};
  std::int64_t result_at_ = 0;
};

}  // namespace

std::unique_ptr<LibraryCall> dot_call(const Program& program, const Op& op,
                                      const ProductViews* views) {
  const bool is_short = byte_size(program.type_of(program.operands(op)[0]).dtype) < 4;
  if (prefers_onednn(is_short ? LibraryWork::short_product : LibraryWork::product))
    if (auto call =
            direct_dot_call(program, op, views != nullptr ? *views : dense_views(program, op),
                            ThreadPool::shared().threads()))
      return call;
  return converted_dot_call(program, op, views);
}

std::unique_ptr<LibraryCall> converted_dot_call(const Program& program, const Op& op,
                                                const ProductViews* views) {
  const Type& lhs = program.type_of(program.operands(op)[0]);
  const Type& rhs = program.type_of(program.operands(op)[1]);
  const Type& result = program.type_of(program.result(op, 0));
  if (result.elements() == 0) return nullptr;
  // Terms of a sum, or more where there are several products.
  const double terms =
      std::sqrt(static_cast<double>(lhs.elements()) * static_cast<double>(rhs.elements()) /
                static_cast<double>(result.elements()));
  const auto dtype = product_dtype(lhs.dtype, rhs.dtype, result.dtype,
                                   static_cast<std::int64_t>(std::ceil(terms)));
  if (!dtype) return nullptr;
  auto plan = plan_product(program, op, views != nullptr ? *views : dense_views(program, op),
                           {lhs.dtype != *dtype, rhs.dtype != *dtype});
  if (!plan) return nullptr;
  return std::make_unique<DotCall>(*std::move(plan), lhs.dtype, rhs.dtype, result, *dtype);
}

}  // namespace heddle::cpu
