// Kernels as machine code against the kernel interpreter.
#include "device_run.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

void expect_alike(const Kernel& kernel, std::int64_t ulps = 0) {
  for (int vector_bytes : {64, 32, 16})
    expect_compiled_as_interpreted(kernel, random_data(kernel), ulps, vector_bytes);
}

Kernel sum_of_two(std::int64_t n, DType type) {
  Kernel kernel = named_kernel("sum_of_two");
  const auto x = add_buffer(kernel, Reach::input, type, n);
  const auto y = add_buffer(kernel, Reach::input, type, n);
  const auto z = add_buffer(kernel, Reach::output, type, n);
  StageBuilder s(kernel, {{n, -1}});
  const NodeId at = s.loop(0);
  s.store(z, at, s.add(s.load(x, at), s.load(y, at)));
  kernel.phases.emplace_back().stages.push_back(s.stage);
  return kernel;
}

TEST(DeviceJit, ElementwiseOfAnyLength) {
  for (std::int64_t n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1000})
    for (DType type : {DType::f32, DType::f64, DType::i8, DType::bf16, DType::i1})
      expect_alike(sum_of_two(n, type));
}

// The parts of complex numbers: y[2i] = x[2i] + x[2i + 1] and y[2i + 1] = their difference, or the
// first of them alone, of a buffer that may end with it.
Kernel parts_of_pairs(std::int64_t n, DType type, bool both, std::int64_t odd) {
  Kernel kernel = named_kernel("parts_of_pairs");
  const auto x = add_buffer(kernel, Reach::input, type, 2 * n + odd);
  const auto y = add_buffer(kernel, Reach::output, type, 2 * n + odd);
  StageBuilder s(kernel, {{n, -1}});
  const NodeId even = s.scaled(s.loop(0), 2);
  const NodeId next = s.add(even, s.number(odd == 0 ? 1 : 2, DType::i64));
  const NodeId a = s.load(x, even), b = s.load(x, odd == 0 ? next : even);
  s.store(y, even, s.add(a, b));
  if (both) s.store(y, next, s.op(ScalarOp::subtract, a, b));
  kernel.phases.emplace_back().stages.push_back(s.stage);
  return kernel;
}

TEST(DeviceJit, PartsOfPairsOfAnyLength) {
  for (std::int64_t n : {1, 7, 8, 15, 16, 33, 64, 129})
    for (DType type : {DType::f32, DType::f64, DType::bf16, DType::i8})
      for (bool both : {true, false}) expect_alike(parts_of_pairs(n, type, both, 0));
}

// With 2i and 2i + 2 a point writes over what the one before it wrote: these stay in order.
TEST(DeviceJit, PartsThatMeetStayInOrder) {
  for (std::int64_t n : {1, 16, 33, 64}) {
    expect_alike(parts_of_pairs(n, DType::f32, true, 1));
    expect_alike(parts_of_pairs(n, DType::f32, false, 1));
  }
}

Kernel many_functions(std::int64_t n) {
  Kernel kernel = named_kernel("many_functions");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, n);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, n);
  StageBuilder s(kernel, {{n, -1}});
  const NodeId at = s.loop(0);
  const NodeId more = s.op(ScalarOp::abs, s.load(x, at));
  NodeId value = more;
  for (int i = 0; i < 20; ++i) value = s.add(s.op(ScalarOp::logistic, value), more);
  s.store(y, at, value);
  kernel.phases.emplace_back().stages.push_back(s.stage);
  return kernel;
}

// What is left over of a row there is whole vectors and a part of one under a mask.
TEST(DeviceJit, ManyFunctionsOfAnyLength) {
  for (std::int64_t n : {7, 32, 63, 64, 100, 129, 1000}) expect_alike(many_functions(n), 8);
}

TEST(DeviceJit, Softmax) {
  for (std::int64_t columns : {1, 5, 16, 64, 211, 2048})
    for (std::int64_t block : {1, 4}) {
      expect_alike(examples::softmax(37, columns, block), 100);  // sums in another order
      expect_alike(examples::softmax(9, columns, block, DType::bf16), 1);
    }
}

TEST(DeviceJit, ColumnSums) {
  for (std::int64_t columns : {1, 3, 16, 33, 100})
    expect_alike(examples::column_sum(41, columns, 3));
}

TEST(DeviceJit, RunningSums) {
  for (std::int64_t columns : {1, 15, 16, 17, 40, 128})
    expect_alike(examples::running_sum(5, columns));
}

// y[i, j] = x[j, i] + row[i] * column[j]
Kernel turned(std::int64_t rows, std::int64_t columns, std::int64_t block, DType type) {
  Kernel kernel = named_kernel("turned");
  const auto x = add_buffer(kernel, Reach::input, type, rows * columns);
  const auto row = add_buffer(kernel, Reach::input, type, rows);
  const auto column = add_buffer(kernel, Reach::input, type, columns);
  const auto y = add_buffer(kernel, Reach::output, type, rows * columns);
  StageBuilder s(kernel, {{block, 0}, {columns, -1}});
  const NodeId i = s.add(s.outer(0), s.loop(0)), j = s.loop(1);
  const NodeId scaled =
      s.op(ScalarOp::multiply, s.op(ScalarOp::sqrt, s.op(ScalarOp::abs, s.load(row, i))),
           s.load(column, j));
  s.store(y, s.add(s.scaled(i, columns), j), s.add(s.load(x, s.add(s.scaled(j, rows), i)), scaled));
  Phase phase = phase_over({{rows, block}});
  phase.stages.push_back(s.stage);
  kernel.phases.push_back(phase);
  return kernel;
}

TEST(DeviceJit, TransposesByTiles) {
  for (DType type : {DType::f32, DType::f64, DType::bf16})
    for (std::int64_t rows : {16, 100})
      for (std::int64_t columns : {33, 64}) {
        expect_alike(turned(rows, columns, 16, type));
        expect_alike(turned(rows, columns, 37, type));
      }
}

// y[i, j] = x[i, j] + pattern[j % 64], past the caches.
Kernel streamed_rows(std::int64_t rows, std::int64_t columns, bool repeats) {
  Kernel kernel = named_kernel("streamed_rows");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, rows * columns);
  const auto pattern = add_buffer(kernel, Reach::input, DType::f32, 64);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, rows * columns);
  const auto sum = add_buffer(kernel, Reach::output, DType::f32, rows);
  kernel.buffers[y].streamed = true;
  Phase phase = phase_over({{rows, 1}});
  StageBuilder zero(kernel), s(kernel, {{columns, -1}});
  const NodeId only = zero.outer(0);
  zero.store(sum, only, zero.number(0, DType::f32));
  const NodeId row = s.outer(0), j = s.loop(0);
  const NodeId flat = s.add(s.scaled(row, columns), j);
  NodeId value = s.load(x, flat);
  if (repeats) value = s.add(value, s.load(pattern, s.op(ScalarOp::remainder, j, s.index(64))));
  s.store(y, flat, value);
  s.update(sum, row, ScalarOp::add, value);
  phase.stages = {zero.stage, s.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

TEST(DeviceJit, StreamedRowsThatBeginAnywhere) {
  for (std::int64_t columns : {127, 128, 200, 1001, 1024})
    for (bool repeats : {false, true}) expect_alike(streamed_rows(7, columns, repeats));
}

TEST(DeviceJit, RunningSumsOfEveryType) {
  for (DType type : {DType::f32, DType::f64, DType::i8, DType::i64, DType::bf16, DType::f16})
    for (ScalarOp op : {ScalarOp::add, ScalarOp::maximum})
      for (std::int64_t columns : {7, 64, 130}) {
        Kernel kernel = examples::running_sum(3, columns);
        for (KernelBuffer& b : kernel.buffers) b.dtype = type;
        kernel.scratch_bytes = 64;
        for (Stage& stage : kernel.phases[0].stages) {
          for (Node& n : stage.nodes)
            if (n.type == DType::i32) n.type = type, n.bits = 0;
          for (Statement& s : stage.statements)
            if (s.kind == Statement::Kind::scan) s.combiner.op = op;
        }
        expect_alike(kernel);
      }
}

TEST(DeviceJit, CombinersByGraph) {
  for (std::int64_t columns : {1, 15, 16, 100}) expect_alike(examples::largest_place(7, columns));
}

TEST(DeviceJit, Scatters) {
  for (bool any_order : {false, true}) expect_alike(examples::scatter_add(5, 100, any_order));
}

TEST(DeviceJit, GuardedLoadsInPlace) {
  for (std::int64_t n : {1, 15, 16, 40, 64}) {
    expect_alike(examples::padded(n, 3, 2));
    expect_alike(examples::padded(n, 16, 32));
  }
}

}  // namespace
}  // namespace heddle
