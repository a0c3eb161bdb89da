#include "stitch/product_plan.h"

#include <algorithm>

#include "cost/fitted.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle {

namespace {

using Dims = std::vector<std::int64_t>;
using Loops = std::vector<ProductLoop>;
using Step = std::int64_t ProductLoop::*;

Dims others(std::size_t rank, const Dims& batch, const Dims& sum) {
  Dims own;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d)
    if (std::ranges::find(batch, d) == batch.end() && std::ranges::find(sum, d) == sum.end())
      own.push_back(d);
  return own;
}

std::vector<Stride> digits(const StridedView& view, const Dims& dims) {
  std::vector<Stride> all;
  for (std::int64_t d : dims)
    for (const Stride& digit : view.dims[static_cast<std::size_t>(d)])
      if (digit.size != 1) all.push_back(digit);
  return all;
}

std::vector<Stride> digits(const StridedView& view, std::size_t first, std::size_t count) {
  Dims dims;
  for (std::size_t d = first; d < first + count; ++d) dims.push_back(static_cast<std::int64_t>(d));
  return digits(view, dims);
}

// Adds the steps of one tensor to loops over the same positions; both are split until they agree.
bool add_steps(Loops& loops, std::vector<Stride> digits, Step step) {
  Loops made;
  while (!loops.empty() && !digits.empty()) {
    ProductLoop& loop = loops.back();
    Stride& digit = digits.back();
    const std::int64_t size = std::min(loop.size, digit.size);
    if (loop.size % size != 0 || digit.size % size != 0) return false;
    ProductLoop part = loop;
    part.size = size;
    part.*step = digit.step;
    made.push_back(part);
    loop = {loop.size / size, loop.a * size, loop.b * size, loop.c * size};
    digit = {digit.size / size, digit.step * size};
    if (loop.size == 1) loops.pop_back();
    if (digit.size == 1) digits.pop_back();
  }
  if (!loops.empty() || !digits.empty()) return false;
  std::reverse(made.begin(), made.end());
  loops = std::move(made);
  return true;
}

Loops loops_of(const std::vector<Stride>& digits, Step step) {
  Loops loops;
  for (const Stride& digit : digits) {
    ProductLoop loop{.size = digit.size};
    loop.*step = digit.step;
    loops.push_back(loop);
  }
  return loops;
}

void sort_by(Loops& loops, Step step) {
  std::stable_sort(loops.begin(), loops.end(),
                   [&](const ProductLoop& x, const ProductLoop& y) { return x.*step > y.*step; });
}

// Loops that continue one another in all of these tensors become one.
Loops joined(const Loops& loops, std::initializer_list<Step> steps) {
  Loops out;
  for (const ProductLoop& loop : loops) {
    const bool continues = !out.empty() && std::ranges::all_of(steps, [&](Step step) {
      return out.back().*step == loop.size * (loop.*step);
    });
    if (continues)
      out.back() = {out.back().size * loop.size, loop.a, loop.b, loop.c};
    else
      out.push_back(loop);
  }
  return out;
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
    if (rows.step < 1) return {};
    return Matrix{rows.step, false};
  }
  if (sum.step == 1 && (rows.size == 1 || rows.step >= sum.size))
    return Matrix{rows.size == 1 ? sum.size : rows.step, false};
  if ((rows.step == 1 || rows.size == 1) && sum.step >= rows.size) return Matrix{sum.step, true};
  return {};
}

class Planner {
 public:
  Planner(const Program& program, const Op& op, const ProductViews& views)
      : views_(views), numbers_(product_dims(program, op)) {}

  std::optional<ProductPlan> run(const std::array<bool, 2>& copied) {
    if (!make_loops()) return {};
    plan_.sides[0] = side(views_.lhs, &ProductLoop::a, rows_);
    plan_.sides[1] = side(views_.rhs, &ProductLoop::b, columns_);
    if (copied[0] || !reads_as_it_lies(rows_, &ProductLoop::a))
      copy(plan_.sides[0], rows_, &ProductLoop::a);
    if (copied[1] || !reads_as_it_lies(columns_, &ProductLoop::b))
      copy(plan_.sides[1], columns_, &ProductLoop::b);
    return finish() ? std::optional(std::move(plan_)) : std::nullopt;
  }

 private:
  bool make_loops() {
    const Dims &rows = numbers_.lhs_own, &columns = numbers_.rhs_own;
    const std::size_t batches = numbers_.lhs_batch.size();
    batch_ = loops_of(digits(views_.lhs, numbers_.lhs_batch), &ProductLoop::a);
    sum_ = loops_of(digits(views_.lhs, numbers_.lhs_sum), &ProductLoop::a);
    rows_ = loops_of(digits(views_.lhs, rows), &ProductLoop::a);
    columns_ = loops_of(digits(views_.rhs, columns), &ProductLoop::b);
    const StridedView& c = views_.result;
    if (!add_steps(batch_, digits(views_.rhs, numbers_.rhs_batch), &ProductLoop::b) ||
        !(is_empty(sum_) ||
          add_steps(sum_, digits(views_.rhs, numbers_.rhs_sum), &ProductLoop::b)) ||
        !add_steps(batch_, digits(c, 0, batches), &ProductLoop::c) ||
        !add_steps(rows_, digits(c, batches, rows.size()), &ProductLoop::c) ||
        !add_steps(columns_, digits(c, batches + rows.size(), columns.size()), &ProductLoop::c))
      return false;
    if (is_empty(sum_)) sum_ = {{.size = 0, .a = 1, .b = 1}};
    for (Loops* loops : {&batch_, &rows_, &columns_}) sort_by(*loops, &ProductLoop::c);
    // Any order of the summed dimensions will do, as long as both operands have the same.
    sort_by(sum_, count(rows_) >= count(columns_) ? &ProductLoop::a : &ProductLoop::b);
    return true;
  }

  static bool is_empty(const Loops& loops) { return count(loops) == 0; }

  static std::int64_t count(const Loops& loops) {
    std::int64_t n = 1;
    for (const ProductLoop& loop : loops) n *= loop.size;
    return n;
  }

  static Stride inner(const Loops& loops, Step step) {
    return loops.empty() ? Stride{1, 1} : Stride{loops.back().size, loops.back().*step};
  }

  bool reads_as_it_lies(const Loops& own, Step step) const {
    const Loops lines = joined(own, {step, &ProductLoop::c}), sum = joined(sum_, {step});
    if (sum.size() > 1 || !as_matrix(inner(lines, step), inner(sum, step))) return false;
    // Short rows inside of many loops are not worth it.
    return lines.size() <= 1 || lines.back().size >= cost::kFewRows;
  }

  ProductPlan::Side side(const StridedView& view, Step step, const Loops& own) const {
    ProductPlan::Side made{.offset = view.offset, .elements = 1, .copied = false, .walk = {}};
    for (const Loops* loops : {&batch_, &own, &sum_})
      for (const ProductLoop& loop : *loops) {
        made.walk.push_back({loop.size, loop.*step});
        made.elements *= loop.size;
      }
    return made;
  }

  // Densely: batch, own, sum.
  void copy(ProductPlan::Side& side, Loops& own, Step step) {
    std::int64_t dense = 1;
    for (Loops* loops : {&sum_, &own, &batch_})
      for (std::size_t i = loops->size(); i-- > 0;) {
        (*loops)[i].*step = dense;
        dense *= (*loops)[i].size;
      }
    side.copied = true;
  }

  bool finish() {
    const Loops rows = joined(rows_, {&ProductLoop::a, &ProductLoop::c});
    const Loops columns = joined(columns_, {&ProductLoop::b, &ProductLoop::c});
    const Loops sum = joined(sum_, {&ProductLoop::a, &ProductLoop::b});
    if (sum.size() > 1) return false;
    auto a = as_matrix(inner(rows, &ProductLoop::a), inner(sum, &ProductLoop::a));
    auto b = as_matrix(inner(columns, &ProductLoop::b), inner(sum, &ProductLoop::b));
    if (!a || !b) return false;
    plan_.k = count(sum);
    if (!set_result(inner(rows, &ProductLoop::c), inner(columns, &ProductLoop::c))) return false;
    if (plan_.swapped) std::swap(a, b);
    plan_.lda = a->ld;
    plan_.ldb = b->ld;
    plan_.transpose_a = a->transposed;
    plan_.transpose_b = !b->transposed;
    plan_.loops = joined(batch_, {&ProductLoop::a, &ProductLoop::b, &ProductLoop::c});
    for (const Loops* loops : {&rows, &columns})
      if (!loops->empty()) plan_.loops.insert(plan_.loops.end(), loops->begin(), loops->end() - 1);
    if (plan_.swapped)
      for (ProductLoop& loop : plan_.loops) std::swap(loop.a, loop.b);
    return true;
  }

  // As it is, or by (A B)ᵀ = Bᵀ Aᵀ.
  bool set_result(const Stride& rows, const Stride& columns) {
    const auto fits = [](const Stride& lines, const Stride& line) {
      return (line.size == 1 || line.step == 1) && (lines.size == 1 || lines.step >= line.size);
    };
    plan_.swapped = !fits(rows, columns);
    if (plan_.swapped && !fits(columns, rows)) return false;
    const Stride& lines = plan_.swapped ? columns : rows;
    const Stride& line = plan_.swapped ? rows : columns;
    plan_.m = lines.size;
    plan_.n = line.size;
    plan_.ldc = lines.size == 1 ? line.size : lines.step;
    return true;
  }

  const ProductViews& views_;
  ProductDims numbers_;
  Loops batch_, rows_, columns_, sum_;
  ProductPlan plan_;
};

}  // namespace

ProductDims product_dims(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  const std::size_t rank = program.type_of(operands[0]).rank();
  ProductDims dims;
  const Attr* given = program.attr(op, "dot_dimension_numbers");
  if (given == nullptr) {  // stablehlo.dot
    dims = {{}, {}, {static_cast<std::int64_t>(rank) - 1}, {0}, {}, {}};
  } else {
    dims = {integers_or(field(given, "lhs_batching_dimensions")),
            integers_or(field(given, "rhs_batching_dimensions")),
            integers_or(field(given, "lhs_contracting_dimensions")),
            integers_or(field(given, "rhs_contracting_dimensions")),
            {},
            {}};
  }
  dims.lhs_own = others(rank, dims.lhs_batch, dims.lhs_sum);
  dims.rhs_own = others(program.type_of(operands[1]).rank(), dims.rhs_batch, dims.rhs_sum);
  return dims;
}

ProductViews dense_views(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  return {dense_view(program, operands[0]), dense_view(program, operands[1]),
          dense_view(program, program.result(op, 0))};
}

std::optional<ProductPlan> plan_product(const Program& program, const Op& op,
                                        const ProductViews& views,
                                        const std::array<bool, 2>& copied) {
  return Planner(program, op, views).run(copied);
}

}  // namespace heddle
