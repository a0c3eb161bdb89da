// dot_general by matrix products. Operands are copied only where no order of loops around a product
// reads them as they lie.
#include <algorithm>
#include <numeric>

#include "device/cpu/calls.h"
#include "device/cpu/element.h"
#include "device/cpu/gemm.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle::cpu {

namespace {

using Dims = std::vector<std::int64_t>;

// An operand as loops: batch, own (rows or columns), summed.
struct Side {
  DType dtype = DType::f32;
  std::int64_t elements = 0;
  std::vector<Stride> batch, own, sum;
  bool copied = false;
};

std::vector<Stride> strides_along(const Shape& shape, const Dims& dims) {
  std::vector<std::int64_t> steps(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  std::vector<Stride> out;
  for (std::int64_t d : dims) {
    const auto i = static_cast<std::size_t>(d);
    out.push_back({shape[i], steps[i]});
  }
  return out;
}

Side make_side(const Type& type, const Dims& batch, const Dims& sum) {
  Dims own;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(type.rank()); ++d)
    if (std::ranges::find(batch, d) == batch.end() && std::ranges::find(sum, d) == sum.end())
      own.push_back(d);
  return {type.dtype,
          type.elements(),
          strides_along(type.shape, batch),
          strides_along(type.shape, own),
          strides_along(type.shape, sum),
          false};
}

std::int64_t count(const std::vector<Stride>& dims) {
  std::int64_t n = 1;
  for (const Stride& d : dims) n *= d.size;
  return n;
}

// The same for pairs of dimensions that two operands walk together.
void drop_ones(std::vector<Stride>& a, std::vector<Stride>& b) {
  for (std::size_t i = a.size(); i-- > 0;)
    if (a[i].size == 1) {
      a.erase(a.begin() + static_cast<std::ptrdiff_t>(i));
      b.erase(b.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// Densely: batch, own, sum.
void make_dense(Side& side) {
  std::int64_t step = 1;
  for (auto* dims : {&side.sum, &side.own, &side.batch})
    for (std::size_t i = dims->size(); i-- > 0;) {
      (*dims)[i].step = step;
      step *= (*dims)[i].size;
    }
  side.copied = true;
}

// A matrix of `rows` by `sum` that BLAS can read as it lies.
struct Matrix {
  std::int64_t ld = 1;
  bool transposed = false;  // the sum runs from row to row
};

std::optional<Matrix> as_matrix(const Stride& rows, const Stride& sum) {
  if (sum.size == 1 && rows.size == 1) return Matrix{1, false};
  if (sum.size == 1) {
    if (rows.step == 1) return Matrix{rows.size, true};
    return Matrix{rows.step, false};
  }
  if (sum.step == 1 && (rows.size == 1 || rows.step >= sum.size))
    return Matrix{rows.size == 1 ? sum.size : rows.step, false};
  if ((rows.step == 1 || rows.size == 1) && sum.step >= rows.size) return Matrix{sum.step, true};
  return {};
}

// The innermost own dimension makes the matrix; the ones around it are loops.
Stride inner(const std::vector<Stride>& own) { return own.empty() ? Stride{1, 1} : own.back(); }
Stride whole_sum(const std::vector<Stride>& sum) { return sum.empty() ? Stride{1, 1} : sum[0]; }

bool reads_as_it_lies(const Side& side) {
  const auto own = joined(side.own), sum = joined(side.sum);
  if (sum.size() > 1 || !as_matrix(inner(own), whole_sum(sum))) return false;
  // Short rows inside of many loops are not worth it.
  return own.size() <= 1 || own.back().size >= 16;
}

// Any order of the summed dimensions will do, as long as both operands have the same.
void order_sum(Side& lhs, Side& rhs) {
  drop_ones(lhs.sum, rhs.sum);
  const auto by_step_of = [&](const Side& side) {
    std::vector<std::size_t> order(side.sum.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return side.sum[a].step > side.sum[b].step;
    });
    return order;
  };
  const auto apply = [](Side& side, const std::vector<std::size_t>& order) {
    std::vector<Stride> sorted;
    for (std::size_t i : order) sorted.push_back(side.sum[i]);
    side.sum = std::move(sorted);
  };
  const auto order = by_step_of(lhs.elements >= rhs.elements ? lhs : rhs);
  apply(lhs, order);
  apply(rhs, order);
}

class DotCall final : public LibraryCall {
 public:
  DotCall(Side lhs, Side rhs, const Type& result, DType dtype)
      : lhs_(std::move(lhs)), rhs_(std::move(rhs)), result_(result), dtype_(dtype) {
    order_sum(lhs_, rhs_);
    lhs_packing_ = walk(lhs_);
    rhs_packing_ = walk(rhs_);
    for (Side* side : {&lhs_, &rhs_})
      if (side->dtype != dtype_ || !reads_as_it_lies(*side)) make_dense(*side);
    plan();
  }

  std::string text() const override {
    const GemmShape& s = batch_.shape;
    std::string text = fmt::format("gemm {}x{}x{} {}", s.m, s.n, s.k, name(dtype_));
    std::int64_t turns = 1;
    for (const GemmLoop& loop : batch_.loops) turns *= loop.count;
    if (turns > 1) text += fmt::format(" x{}", turns);
    if (lhs_.copied) text += ", left copied";
    if (rhs_.copied) text += ", right copied";
    return text;
  }

  std::int64_t workspace_bytes() const override { return result_at_ + result_bytes(); }

  Verdict run(const CallFrame& frame) const override {
    const std::byte* a = frame.operands[0];
    const std::byte* b = frame.operands[1];
    if (lhs_.copied) {
      pack(a, lhs_.dtype, lhs_packing_, frame.workspace, dtype_, frame.pool);
      a = frame.workspace;
    }
    if (rhs_.copied) {
      pack(b, rhs_.dtype, rhs_packing_, frame.workspace + rhs_at_, dtype_, frame.pool);
      b = frame.workspace + rhs_at_;
    }
    std::byte* c = result_bytes() > 0 ? frame.workspace + result_at_ : frame.results[0];
    run_gemm(batch_, a, b, c, frame.pool);
    if (result_bytes() > 0)
      pack(c, dtype_, {{result_.elements(), 1}}, frame.results[0], result_.dtype, frame.pool);
    return yes();
  }

 private:
  static std::vector<Stride> walk(const Side& side) {
    std::vector<Stride> all = side.batch;
    all.insert(all.end(), side.own.begin(), side.own.end());
    all.insert(all.end(), side.sum.begin(), side.sum.end());
    return all;
  }

  std::int64_t result_bytes() const {
    return result_.dtype == dtype_ ? 0 : result_.elements() * byte_size(dtype_);
  }

  static std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

  void plan() {
    const auto rows = joined(lhs_.own), columns = joined(rhs_.own);
    const Stride lhs_sum = whole_sum(joined(lhs_.sum)), rhs_sum = whole_sum(joined(rhs_.sum));
    const Matrix a = as_matrix(inner(rows), lhs_sum).value();
    const Matrix b = as_matrix(inner(columns), rhs_sum).value();
    const std::int64_t n = count(columns);
    batch_.dtype = dtype_;
    batch_.shape = {.m = inner(rows).size,
                    .n = inner(columns).size,
                    .k = count(lhs_.sum),
                    .lda = a.ld,
                    .ldb = b.ld,
                    .ldc = n,
                    .transpose_a = a.transposed,
                    .transpose_b = !b.transposed};
    // Result, from the outside in: batch, rows, columns.
    std::int64_t step = count(rows) * n;
    std::vector<GemmLoop> batches;
    for (std::size_t i = lhs_.batch.size(); i-- > 0; step *= lhs_.batch[i].size)
      batches.push_back({lhs_.batch[i].size, lhs_.batch[i].step, rhs_.batch[i].step, step});
    std::reverse(batches.begin(), batches.end());
    batch_.loops = std::move(batches);
    add_loops(rows, n * batch_.shape.m, [](GemmLoop& loop, std::int64_t by) { loop.a = by; });
    add_loops(columns, batch_.shape.n, [](GemmLoop& loop, std::int64_t by) { loop.b = by; });
    rhs_at_ = lhs_.copied ? rounded(lhs_.elements * byte_size(dtype_)) : 0;
    result_at_ = rhs_at_ + (rhs_.copied ? rounded(rhs_.elements * byte_size(dtype_)) : 0);
  }

  template <typename Set>
  void add_loops(const std::vector<Stride>& own, std::int64_t step, Set set) {
    std::vector<GemmLoop> loops;
    for (std::size_t i = own.empty() ? 0 : own.size() - 1; i-- > 0; step *= own[i].size) {
      loops.push_back({own[i].size, 0, 0, step});
      set(loops.back(), own[i].step);
    }
    batch_.loops.insert(batch_.loops.end(), loops.rbegin(), loops.rend());
  }

  Side lhs_, rhs_;
  Type result_;
  DType dtype_;
  std::vector<Stride> lhs_packing_, rhs_packing_;
  GemmBatch batch_;
  std::int64_t rhs_at_ = 0, result_at_ = 0;
};

}  // namespace

std::unique_ptr<LibraryCall> dot_call(const Program& program, const Op& op) {
  const Type& lhs = program.type_of(program.operands(op)[0]);
  const Type& rhs = program.type_of(program.operands(op)[1]);
  const Type& result = program.type_of(program.result(op, 0));
  const auto dtype = product_dtype(lhs.dtype, rhs.dtype, result.dtype);
  if (!dtype || result.elements() == 0) return nullptr;
  Dims lhs_batch, rhs_batch, lhs_sum, rhs_sum;
  if (op.def->short_name() == "dot") {
    lhs_sum = {static_cast<std::int64_t>(lhs.rank()) - 1};
    rhs_sum = {0};
  } else {
    const Attr* dims = program.attr(op, "dot_dimension_numbers");
    lhs_batch = integers_or(field(dims, "lhs_batching_dimensions"));
    rhs_batch = integers_or(field(dims, "rhs_batching_dimensions"));
    lhs_sum = integers_or(field(dims, "lhs_contracting_dimensions"));
    rhs_sum = integers_or(field(dims, "rhs_contracting_dimensions"));
  }
  return std::make_unique<DotCall>(make_side(lhs, lhs_batch, lhs_sum),
                                   make_side(rhs, rhs_batch, rhs_sum), result, *dtype);
}

}  // namespace heddle::cpu
