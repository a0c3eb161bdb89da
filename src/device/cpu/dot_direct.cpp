// Products by oneDNN, of their operands as they are: processors have instructions for short numbers
// that add up in f32 or i32, so that nothing is converted before.
#include <algorithm>
#include <map>

#include "device/cpu/calls.h"
#include "device/cpu/element.h"
#include "device/cpu/gemm.h"
#include "device/cpu/onednn.h"
#include "device/cpu/places.h"
#include "heddle/op.h"
#include "stitch/product_plan.h"

namespace heddle::cpu {

namespace {

using dnn::Desc;
using dnn::Memory;
using dnn::Primitive;

// Below that a call costs more than its products, converted or not.
constexpr std::int64_t kFewDirectProducts = 1 << 12;

bool has_exact_bytes() {
#if defined(__x86_64__)
  // Without these, sums of two products of bytes stop at 16 bits.
  return __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

bool fits_direct_dot(DType lhs, DType rhs, DType result) {
  const auto is_byte = [](DType type) { return type == DType::i8 || type == DType::ui8; };
  // The library takes signed numbers on the right.
  if (is_byte(lhs) && is_byte(rhs))
    return lhs == DType::i8 && rhs == DType::i8 && result == DType::i32 && has_exact_bytes();
  return is_float(lhs) && lhs == rhs && (result == lhs || result == DType::f32);
}

class DirectDot final : public LibraryCall {
 public:
  DirectDot(ProductPlan plan, const Type& operand, const Type& result, int workers)
      : plan_(std::move(plan)),
        type_(operand.dtype),
        result_type_(result.dtype),
        batch_{.dtype = type_, .shape = {}, .loops = {}},
        workers_(workers) {
    batch_.shape = {.m = plan_.m, .n = plan_.n, .k = plan_.k};
    for (const ProductLoop& loop : plan_.loops)
      batch_.loops.push_back({loop.size, loop.a, loop.b, loop.c});
    turns_ = gemm_turns(batch_);
    cut_ = gemm_cut(batch_.shape, turns_, workers_);
  }

  bool prepare() {
    for (std::int64_t part = 0; part < cut_.parts; ++part) {
      const auto [first, size] = band(part);
      if (size == 0 || bands_.contains(size)) continue;
      auto made = make_band(size);
      if (!made) return false;
      bands_.emplace(size, *std::move(made));
    }
    for (std::size_t i = 0; i < 2; ++i)
      if (plan_.sides[i].copied) {
        copy_at_[i] = end_;
        end_ += rounded_up(plan_.sides[i].elements * byte_size(type_));
      }
    scratch_at_ = end_;
    for (const auto& [size, made] : bands_)
      scratch_step_ = std::max(scratch_step_, rounded_up(made.primitive.scratch_bytes()));
    end_ += workers_ * scratch_step_;
    return true;
  }

  std::string text() const override {
    std::string text = fmt::format("gemm {}x{}x{} {}", plan_.m, plan_.n, plan_.k, name(type_));
    if (turns_ > 1) text += fmt::format(" x{}", turns_);
    return text + ", onednn";
  }
  std::int64_t workspace_bytes() const override { return end_; }

  StepWork work() const override {
    StepWork all;
    all.products.push_back({static_cast<double>(plan_.m), static_cast<double>(plan_.n),
                            static_cast<double>(plan_.k), static_cast<double>(turns_),
                            static_cast<double>(byte_size(type_)) / 4,
                            static_cast<double>(turns_ * cut_.parts)});
    for (const ProductPlan::Side& side : plan_.sides)
      if (side.copied) all.alone += packed_work(side.walk, false);
    return all;
  }

  Verdict run(const CallFrame& frame) const override {
    const std::byte* a = operand(frame, plan_.swapped ? 1 : 0);
    const std::byte* b = operand(frame, plan_.swapped ? 0 : 1);
    const auto one = [&](std::int64_t turn, std::int64_t part, int worker) {
      run_band(turn, part, a, b, frame.results[0],
               frame.workspace + scratch_at_ + worker * scratch_step_);
    };
    if (cut_.parts > 1) {
      frame.pool.parallel_for(turns_ * cut_.parts, [&](std::int64_t i, int worker) {
        one(i / cut_.parts, i % cut_.parts, worker);
      });
      return yes();
    }
    const std::int64_t groups = gemm_groups(batch_.shape, turns_, workers_);
    const auto group = [&](std::int64_t g, int worker) {
      for (std::int64_t t = turns_ * g / groups; t < turns_ * (g + 1) / groups; ++t)
        one(t, 0, worker);
    };
    if (groups == 1)
      group(0, 0);
    else
      frame.pool.parallel_for(groups, group);
    return yes();
  }

 private:
  // All rows of one size, or columns.
  struct Band {
    Desc a, b, c;
    Primitive primitive;
  };

  std::int64_t along() const { return cut_.columns ? plan_.n : plan_.m; }
  std::pair<std::int64_t, std::int64_t> band(std::int64_t part) const {
    const std::int64_t first = cut_.border(part, along());
    return {first, cut_.border(part + 1, along()) - first};
  }

  std::optional<Band> make_band(std::int64_t size) const {
    const std::int64_t m = cut_.columns ? plan_.m : size, n = cut_.columns ? size : plan_.n;
    // Rows that lie one over the other are for loops that add them up one by one.
    if (plan_.lda < (plan_.transpose_a ? plan_.m : plan_.k) ||
        plan_.ldb < (plan_.transpose_b ? plan_.k : plan_.n) || plan_.ldc < plan_.n)
      return {};
    const auto strides = [](std::int64_t apart, bool transposed) {
      return transposed ? dnn::Dims{1, apart} : dnn::Dims{apart, 1};
    };
    const auto a = Desc::strided(type_, {m, plan_.k}, strides(plan_.lda, plan_.transpose_a));
    const auto b = Desc::strided(type_, {plan_.k, n}, strides(plan_.ldb, plan_.transpose_b));
    const auto c = Desc::strided(result_type_, {m, n}, {plan_.ldc, 1});
    if (!a || !b || !c) return {};
    const auto primitive = Primitive::product({*a, *b, *c});
    if (!primitive) return {};
    return Band{*a, *b, *c, *primitive};
  }

  const std::byte* operand(const CallFrame& frame, std::size_t i) const {
    const ProductPlan::Side& side = plan_.sides[i];
    const std::byte* from = frame.operands[i] + side.offset * byte_size(type_);
    if (!side.copied) return from;
    std::byte* copy = frame.workspace + copy_at_[i];
    pack(from, type_, side.walk, copy, type_, frame.pool);
    return copy;
  }

  void run_band(std::int64_t turn, std::int64_t part, const std::byte* a, const std::byte* b,
                std::byte* c, std::byte* scratch) const {
    const auto [first, size] = band(part);
    if (size == 0) return;
    std::int64_t at_a = 0, at_b = 0, at_c = 0;
    for (std::size_t l = batch_.loops.size(); l-- > 0;) {
      const GemmLoop& loop = batch_.loops[l];
      const std::int64_t i = turn % loop.count;
      turn /= loop.count;
      at_a += i * loop.a, at_b += i * loop.b, at_c += i * loop.c;
    }
    if (cut_.columns) {
      at_b += first * (plan_.transpose_b ? plan_.ldb : 1);
      at_c += first;
    } else {
      at_a += first * (plan_.transpose_a ? 1 : plan_.lda);
      at_c += first * plan_.ldc;
    }
    const Band& made = bands_.at(size);
    const Memory left(made.a, a + at_a * byte_size(type_));
    const Memory right(made.b, b + at_b * byte_size(type_));
    const Memory result(made.c, c + at_c * byte_size(result_type_));
    made.primitive.run(left, &right, result, scratch);
  }

  ProductPlan plan_;
  DType type_, result_type_;
  GemmBatch batch_;
  int workers_;
  GemmCut cut_;
  std::int64_t turns_ = 1;
  std::map<std::int64_t, Band> bands_;  // by size
  std::array<std::int64_t, 2> copy_at_ = {0, 0};
  std::int64_t scratch_at_ = 0, scratch_step_ = 0, end_ = 0;
};

}  // namespace

std::unique_ptr<LibraryCall> direct_dot_call(const Program& program, const Op& op,
                                             const ProductViews& views, int workers) {
  const Type& lhs = program.type_of(program.operands(op)[0]);
  const Type& rhs = program.type_of(program.operands(op)[1]);
  const Type& result = program.type_of(program.result(op, 0));
  if (!fits_direct_dot(lhs.dtype, rhs.dtype, result.dtype) || !dnn::has_type(lhs.dtype))
    return nullptr;
  if (lhs.elements() == 0 || rhs.elements() == 0 || result.elements() == 0) return nullptr;
  auto plan = plan_product(program, op, views);
  if (!plan || plan->k == 0 || plan->m * plan->n * plan->k < kFewDirectProducts) return nullptr;
  auto call = std::make_unique<DirectDot>(*std::move(plan), lhs, result, workers);
  if (!call->prepare()) return nullptr;
  return call;
}

}  // namespace heddle::cpu
