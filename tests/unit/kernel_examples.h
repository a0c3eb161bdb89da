// Kernels by hand, one for each thing that kernels can do.
#pragma once

#include "ir/eval/scalar_function.h"
#include "kernel_build.h"

namespace heddle::examples {

// out[r, j] = softmax over j; inputs and results are of `dtype`, sums of f32.
inline Kernel softmax(std::int64_t rows, std::int64_t columns, std::int64_t block = 1,
                      DType dtype = DType::f32) {
  Kernel kernel = named_kernel("softmax");
  const auto x = add_buffer(kernel, Reach::input, dtype, rows * columns);
  const auto y = add_buffer(kernel, Reach::output, dtype, rows * columns);
  const auto most = add_buffer(kernel, Reach::block, dtype, block);
  const auto powers = add_buffer(kernel, Reach::block, DType::f32, block * columns);
  const auto sum = add_buffer(kernel, Reach::block, DType::f32, block);
  const std::vector<StageLoop> row = {{block, 0}}, both = {{block, 0}, {columns, -1}};
  Phase phase = phase_over({{rows, block}});
  auto flat = [&](StageBuilder& w) {
    return w.add(w.scaled(w.add(w.outer(0), w.loop(0)), columns), w.loop(1));
  };
  StageBuilder zero(kernel, row);
  zero.store(most, zero.loop(0), zero.bits(neutral_bits(ScalarOp::maximum, dtype), dtype));
  zero.store(sum, zero.loop(0), zero.number(0, DType::f32));
  StageBuilder first(kernel, both);
  first.update(most, first.loop(0), ScalarOp::maximum, first.load(x, flat(first)));
  StageBuilder second(kernel, both);
  const NodeId shifted = second.op(ScalarOp::subtract, second.load(x, flat(second)),
                                   second.load(most, second.loop(0)));
  const NodeId power = second.op(ScalarOp::exp, second.cast(shifted, DType::f32));
  second.store(powers, second.add(second.scaled(second.loop(0), columns), second.loop(1)), power);
  second.update(sum, second.loop(0), ScalarOp::add, power);
  StageBuilder third(kernel, both);
  const NodeId share =
      third.op(ScalarOp::divide,
               third.load(powers, third.add(third.scaled(third.loop(0), columns), third.loop(1))),
               third.load(sum, third.loop(0)));
  third.store(y, flat(third), third.cast(share, dtype));
  for (StageBuilder* writer : {&zero, &first, &second, &third})
    phase.stages.push_back(writer->stage);
  kernel.phases.push_back(phase);
  return kernel;
}

// out[r, i, j] = x[r, i, j] * gain[j], or * gain[i, j], a block for each r.
inline Kernel gained(std::int64_t rows, std::int64_t tile, std::int64_t columns, bool by_column) {
  Kernel kernel = named_kernel("gained");
  const auto x = add_buffer(kernel, Reach::input, DType::bf16, rows * tile * columns);
  const auto gain = add_buffer(kernel, Reach::input, DType::bf16, columns * tile);
  const auto y = add_buffer(kernel, Reach::output, DType::bf16, rows * tile * columns);
  Phase phase = phase_over({{rows, 1}});
  StageBuilder w(kernel, {{tile, -1}, {columns, -1}});
  const NodeId inside = w.add(w.scaled(w.loop(0), columns), w.loop(1));
  const NodeId at = w.add(w.scaled(w.outer(0), tile * columns), inside);
  const NodeId factor = w.load(gain, by_column ? w.loop(1) : inside);
  w.store(y, at, w.op(ScalarOp::multiply, w.load(x, at), factor));
  phase.stages.push_back(w.stage);
  kernel.phases.push_back(phase);
  return kernel;
}

// out[r, j] = sum over i of x[r, i, j], a block for each r.
inline Kernel inner_sum(std::int64_t rows, std::int64_t tile, std::int64_t columns) {
  Kernel kernel = named_kernel("inner_sum");
  const auto x = add_buffer(kernel, Reach::input, DType::bf16, rows * tile * columns);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, rows * columns);
  const auto sum = add_buffer(kernel, Reach::block, DType::f32, columns);
  Phase phase = phase_over({{rows, 1}});
  StageBuilder zero(kernel, {{columns, -1}}), add(kernel, {{tile, -1}, {columns, -1}}),
      out(kernel, {{columns, -1}});
  zero.store(sum, zero.loop(0), zero.number(0, DType::f32));
  const NodeId inside = add.add(add.scaled(add.loop(0), columns), add.loop(1));
  const NodeId at = add.add(add.scaled(add.outer(0), tile * columns), inside);
  add.update(sum, add.loop(1), ScalarOp::add, add.cast(add.load(x, at), DType::f32));
  out.store(y, out.add(out.scaled(out.outer(0), columns), out.loop(0)), out.load(sum, out.loop(0)));
  phase.stages = {zero.stage, add.stage, out.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// For each image r: top[j], the largest of x[r, :, j], and how often twice a number reaches it; out
// = x - top + count. Exact in any order.
inline Kernel channel_norm(std::int64_t images, std::int64_t rows, std::int64_t columns,
                           DType dtype = DType::bf16) {
  Kernel kernel = named_kernel("channel_norm");
  const auto x = add_buffer(kernel, Reach::input, dtype, images * rows * columns);
  const auto y = add_buffer(kernel, Reach::output, dtype, images * rows * columns);
  const auto tops = add_buffer(kernel, Reach::output, DType::f32, images * columns);
  const auto top = add_buffer(kernel, Reach::block, DType::f32, columns);
  const auto count = add_buffer(kernel, Reach::block, DType::i32, columns);
  const std::vector<StageLoop> all = {{rows, -1}, {columns, -1}}, few = {{columns, -1}};
  StageBuilder zero(kernel, few), first(kernel, all), second(kernel, all), small(kernel, few),
      third(kernel, all);
  const auto at = [&](StageBuilder& w) {
    return w.add(w.scaled(w.outer(0), rows * columns),
                 w.add(w.scaled(w.loop(0), columns), w.loop(1)));
  };
  const auto value = [&](StageBuilder& w) { return w.cast(w.load(x, at(w)), DType::f32); };
  zero.store(top, zero.loop(0), zero.bits(neutral_bits(ScalarOp::maximum, DType::f32), DType::f32));
  zero.store(count, zero.loop(0), zero.number(0, DType::i32));
  first.update(top, first.loop(1), ScalarOp::maximum, value(first));
  const NodeId twice = second.op(ScalarOp::multiply, value(second), second.number(2, DType::f32));
  const NodeId near = second.op(ScalarOp::greater_equal, twice, second.load(top, second.loop(1)));
  second.update(count, second.loop(1), ScalarOp::add, second.cast(near, DType::i32));
  small.store(tops, small.add(small.scaled(small.outer(0), columns), small.loop(0)),
              small.load(top, small.loop(0)));
  const NodeId below = third.op(ScalarOp::subtract, value(third), third.load(top, third.loop(1)));
  const NodeId counted = third.cast(third.load(count, third.loop(1)), DType::f32);
  third.store(y, at(third), third.cast(third.add(below, counted), dtype));
  Phase phase = phase_over({{images, 1}});
  phase.stages = {zero.stage, first.stage, second.stage, small.stage, third.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// sums[i, c] = sum of x over rows, squares[i, c] = sum of (x `off` m)^2, m being what the sums are
// over the number of rows; y = x + squares. Without `same`, squares are of twice x.
inline Kernel channel_squares(std::int64_t images, std::int64_t rows, std::int64_t columns,
                              ScalarOp off = ScalarOp::subtract, bool same = true) {
  Kernel kernel = named_kernel("channel_squares");
  const auto x = add_buffer(kernel, Reach::input, DType::bf16, images * rows * columns);
  const auto y = add_buffer(kernel, Reach::output, DType::bf16, images * rows * columns);
  const auto sum = add_buffer(kernel, Reach::block, DType::f32, columns);
  const auto squares = add_buffer(kernel, Reach::block, DType::f32, columns);
  const std::vector<StageLoop> all = {{rows, -1}, {columns, -1}}, few = {{columns, -1}};
  StageBuilder zero(kernel, few), first(kernel, all), second(kernel, all), third(kernel, all);
  const auto at = [&](StageBuilder& w) {
    return w.add(w.scaled(w.outer(0), rows * columns),
                 w.add(w.scaled(w.loop(0), columns), w.loop(1)));
  };
  const auto value = [&](StageBuilder& w) { return w.cast(w.load(x, at(w)), DType::f32); };
  zero.store(sum, zero.loop(0), zero.number(0, DType::f32));
  zero.store(squares, zero.loop(0), zero.number(0, DType::f32));
  first.update(sum, first.loop(1), ScalarOp::add, value(first));
  NodeId number = value(second);
  if (!same) number = second.op(ScalarOp::multiply, number, second.number(2, DType::f32));
  const NodeId mean = second.op(ScalarOp::divide, second.load(sum, second.loop(1)),
                                second.number(static_cast<double>(rows), DType::f32));
  const NodeId apart = second.op(off, number, mean);
  second.update(squares, second.loop(1), ScalarOp::add,
                second.op(ScalarOp::multiply, apart, apart));
  third.store(y, at(third),
              third.cast(third.add(value(third), third.load(squares, third.loop(1))), DType::bf16));
  Phase phase = phase_over({{images, 1}});
  phase.stages = {zero.stage, first.stage, second.stage, third.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// Rows of `blocks` blocks of `size`: scales[r, b] = top[r, b] + most[r], the largest of a block and
// of a row; out = (x - top) * most. Exact in any order.
inline Kernel block_scaled(std::int64_t rows, std::int64_t blocks, std::int64_t size,
                           DType dtype = DType::bf16) {
  Kernel kernel = named_kernel("block_scaled");
  const auto x = add_buffer(kernel, Reach::input, dtype, rows * blocks * size);
  const auto y = add_buffer(kernel, Reach::output, dtype, rows * blocks * size);
  const auto scales = add_buffer(kernel, Reach::output, DType::f32, rows * blocks);
  const auto most = add_buffer(kernel, Reach::block, DType::f32, 1);
  const auto top = add_buffer(kernel, Reach::block, DType::f32, blocks);
  const std::vector<StageLoop> both = {{blocks, -1}, {size, -1}};
  StageBuilder zero(kernel), first(kernel, both), none(kernel, {{blocks, -1}}),
      second(kernel, both), scale(kernel, {{blocks, -1}}), third(kernel, both);
  const auto at = [&](StageBuilder& w) {
    return w.add(w.scaled(w.outer(0), blocks * size), w.add(w.scaled(w.loop(0), size), w.loop(1)));
  };
  const auto value = [&](StageBuilder& w) { return w.cast(w.load(x, at(w)), DType::f32); };
  const std::uint64_t least = neutral_bits(ScalarOp::maximum, DType::f32);
  zero.store(most, zero.index(0), zero.bits(least, DType::f32));
  first.update(most, first.index(0), ScalarOp::maximum, value(first));
  none.store(top, none.loop(0), none.bits(least, DType::f32));
  second.update(top, second.loop(0), ScalarOp::maximum, value(second));
  scale.store(scales, scale.add(scale.scaled(scale.outer(0), blocks), scale.loop(0)),
              scale.add(scale.load(top, scale.loop(0)), scale.load(most, scale.index(0))));
  const NodeId below = third.op(ScalarOp::subtract, value(third), third.load(top, third.loop(0)));
  const NodeId result = third.op(ScalarOp::multiply, below, third.load(most, third.index(0)));
  third.store(y, at(third), third.cast(result, dtype));
  Phase phase = phase_over({{rows, 1}});
  phase.stages = {zero.stage, first.stage, none.stage, second.stage, scale.stage, third.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// The phase that adds up what chunks have left: y[j] = sum over c of parts[c, j].
inline Phase total_of_parts(Kernel& kernel, std::uint32_t parts, std::uint32_t y,
                            std::int64_t columns, std::int64_t chunks, std::int64_t block = 4) {
  Phase phase = phase_over({{columns, block}});
  StageBuilder clear(kernel, {{block, 0}});
  clear.store(y, clear.add(clear.outer(0), clear.loop(0)), clear.number(0, DType::f32));
  StageBuilder total(kernel, {{chunks, -1}, {block, 0}});
  const NodeId column = total.add(total.outer(0), total.loop(1));
  total.update(y, column, ScalarOp::add,
               total.load(parts, total.add(total.scaled(total.loop(0), columns), column)));
  phase.stages = {clear.stage, total.stage};
  return phase;
}

// out[j] = sum over r of x[r, j]: partial sums per chunk, then one phase that adds them.
inline Kernel column_sum(std::int64_t rows, std::int64_t columns, std::int64_t chunks) {
  Kernel kernel = named_kernel("column_sum");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, rows * columns);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, columns);
  const auto parts = add_buffer(kernel, Reach::phases, DType::f32, chunks * columns);
  Phase first = phase_over({{rows, 2}}, chunks);
  StageBuilder zero(kernel, {{columns, -1}});
  auto part = [&](StageBuilder& w, std::uint32_t loop) {
    return w.add(w.scaled(w.chunk(), columns), w.loop(loop));
  };
  zero.store(parts, part(zero, 0), zero.number(0, DType::f32));
  StageBuilder sum(kernel, {{2, 0}, {columns, -1}});
  const NodeId at = sum.add(sum.scaled(sum.add(sum.outer(0), sum.loop(0)), columns), sum.loop(1));
  sum.update(parts, part(sum, 1), ScalarOp::add, sum.load(x, at));
  first.begin.push_back(zero.stage);
  first.stages.push_back(sum.stage);
  kernel.phases = {first, total_of_parts(kernel, parts, y, columns, chunks)};
  return kernel;
}

// Rows of an odd length that lie further apart, a few of each block together: y = x * sum(x), and
// zeros behind each row.
inline Kernel odd_rows(std::int64_t blocks, std::int64_t rows, std::int64_t columns,
                       std::int64_t apart) {
  Kernel kernel = named_kernel("odd_rows");
  const auto x = add_buffer(kernel, Reach::input, DType::bf16, blocks * rows * apart);
  const auto y = add_buffer(kernel, Reach::output, DType::bf16, blocks * rows * apart);
  const auto sum = add_buffer(kernel, Reach::block, DType::f32, rows);
  Phase phase = phase_over({{blocks, 1}});
  StageBuilder zero(kernel, {{rows, -1}}), add(kernel, {{rows, -1}, {columns, -1}}),
      out(kernel, {{rows, -1}, {apart, -1}});
  const auto at = [&](StageBuilder& w) {
    return w.add(w.scaled(w.add(w.scaled(w.outer(0), rows), w.loop(0)), apart), w.loop(1));
  };
  zero.store(sum, zero.loop(0), zero.number(0, DType::f32));
  add.update(sum, add.loop(0), ScalarOp::add, add.cast(add.load(x, at(add)), DType::f32));
  const NodeId place = at(out), is_there = out.op(ScalarOp::less, out.loop(1), out.index(columns));
  const NodeId product =
      out.op(ScalarOp::multiply, out.cast(out.load(x, place, is_there), DType::f32),
             out.load(sum, out.loop(0), is_there));
  out.store(y, place,
            out.op(ScalarOp::select, is_there, out.cast(product, DType::bf16),
                   out.number(0, DType::bf16)));
  phase.stages = {zero.stage, add.stage, out.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// Rows of `left` and `right` elements side by side, and the sums of their columns. Rows begin at
// multiples of 8, and nothing lies behind the last one.
inline Kernel joined(std::int64_t rows, std::int64_t left, std::int64_t right,
                     std::int64_t chunks) {
  const std::int64_t columns = left + right;
  const std::int64_t left_apart = (left + 7) / 8 * 8, right_apart = (right + 7) / 8 * 8;
  Kernel kernel = named_kernel("joined");
  const auto a = add_buffer(kernel, Reach::input, DType::bf16, (rows - 1) * left_apart + left);
  const auto b = add_buffer(kernel, Reach::input, DType::bf16, (rows - 1) * right_apart + right);
  const auto y = add_buffer(kernel, Reach::output, DType::bf16, rows * columns);
  const auto sums = add_buffer(kernel, Reach::output, DType::f32, columns);
  const auto parts = add_buffer(kernel, Reach::phases, DType::f32, chunks * columns);
  Phase phase = phase_over({{rows, 2}}, chunks);
  StageBuilder zero(kernel, {{columns, -1}}), join(kernel, {{2, 0}, {columns, -1}});
  const auto part = [&](StageBuilder& w, std::uint32_t loop) {
    return w.add(w.scaled(w.chunk(), columns), w.loop(loop));
  };
  zero.store(parts, part(zero, 0), zero.number(0, DType::f32));
  const NodeId row = join.add(join.outer(0), join.loop(0)), column = join.loop(1);
  const NodeId is_left = join.op(ScalarOp::less, column, join.index(left));
  const NodeId is_right = join.op(ScalarOp::greater_equal, column, join.index(left));
  const NodeId of_left = join.load(a, join.add(join.scaled(row, left_apart), column), is_left);
  const NodeId of_right = join.load(
      b, join.add(join.scaled(row, right_apart), join.add(column, join.index(-left))), is_right);
  const NodeId both = join.op(ScalarOp::select, is_left, of_left, of_right);
  join.store(y, join.add(join.scaled(row, columns), column), both);
  join.update(parts, part(join, 1), ScalarOp::add, join.cast(both, DType::f32));
  phase.begin = {zero.stage};
  phase.stages = {join.stage};
  kernel.phases = {phase, total_of_parts(kernel, parts, sums, columns, chunks)};
  return kernel;
}

// Elements one after the other, in blocks of `block`: y = x * x + x.
inline Kernel squares(std::int64_t n, std::int64_t block) {
  Kernel kernel = named_kernel("squares");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, n);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, n);
  Phase phase = phase_over({{n, block}});
  StageBuilder stage(kernel, {{block, 0}});
  const NodeId at = stage.add(stage.outer(0), stage.loop(0)), value = stage.load(x, at);
  stage.store(y, at, stage.add(stage.op(ScalarOp::multiply, value, value), value));
  phase.stages.push_back(stage.stage);
  kernel.phases = {phase};
  return kernel;
}

// The same with the sum of squares of each chunk of blocks.
inline Kernel summed_squares(std::int64_t n, std::int64_t block, std::int64_t chunks) {
  Kernel kernel = squares(n, block);
  kernel.name = "summed_squares";
  const auto sums = add_buffer(kernel, Reach::output, DType::f32, chunks);
  Phase& phase = kernel.phases[0];
  phase.chunks = chunks;
  StageBuilder zero(kernel, {{1, -1}});
  zero.store(sums, zero.add(zero.chunk(), zero.loop(0)), zero.number(0, DType::f32));
  phase.begin.push_back(zero.stage);
  StageBuilder stage(kernel, {{block, 0}});
  const NodeId at = stage.add(stage.outer(0), stage.loop(0)), value = stage.load(0, at);
  const NodeId square = stage.op(ScalarOp::multiply, value, value);
  stage.store(1, at, stage.add(square, value));
  stage.update(sums, stage.chunk(), ScalarOp::add, square);
  phase.stages = {stage.stage};
  return kernel;
}

// Running sums along a row of integers, and the total of each row.
inline Kernel running_sum(std::int64_t rows, std::int64_t columns) {
  Kernel kernel = named_kernel("running_sum");
  const auto x = add_buffer(kernel, Reach::input, DType::i32, rows * columns);
  const auto y = add_buffer(kernel, Reach::output, DType::i32, rows * columns);
  const auto total = add_buffer(kernel, Reach::block, DType::i32, 1);
  Phase phase = phase_over({{rows, 1}});
  StageBuilder zero(kernel);
  const NodeId only = zero.index(0);
  zero.store(total, only, zero.number(0, DType::i32));
  StageBuilder scan(kernel, {{columns, -1}});
  const NodeId row = scan.outer(0);
  const NodeId begin = scan.scaled(row, columns);
  const NodeId at = scan.add(begin, scan.loop(0));
  const NodeId value = scan.load(x, at);
  scan.scan(total, scan.index(0), ScalarOp::add, value, y, at);
  phase.stages = {zero.stage, scan.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// x, and to its rows that `rows` names the updates are added one after the other; a block has some
// columns.
inline Kernel scatter_rows(std::int64_t n, std::int64_t updates, std::int64_t columns,
                           std::int64_t block) {
  Kernel kernel = named_kernel("scatter_rows");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, n * columns);
  const auto rows = add_buffer(kernel, Reach::input, DType::ui8, updates);
  const auto u = add_buffer(kernel, Reach::input, DType::f32, updates * columns);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, n * columns);
  Phase phase = phase_over({{columns, block}});
  StageBuilder copy(kernel, {{n, -1}, {block, 0}});
  const NodeId there =
      copy.add(copy.scaled(copy.loop(0), columns), copy.add(copy.outer(0), copy.loop(1)));
  copy.store(y, there, copy.load(x, there));
  StageBuilder w(kernel, {{updates, -1}, {block, 0}});
  const NodeId column = w.add(w.outer(0), w.loop(1));
  const NodeId row =
      w.op(ScalarOp::remainder, w.cast(w.load(rows, w.loop(0)), DType::i64), w.index(n));
  w.update(y, w.add(w.scaled(row, columns), column), ScalarOp::add,
           w.load(u, w.add(w.scaled(w.loop(0), columns), column)));
  w.stage.statements[0].any_order = false;
  phase.stages = {copy.stage, w.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// Sums that run down the columns, so many of which are a block.
inline Kernel running_columns(std::int64_t rows, std::int64_t columns, std::int64_t block,
                              DType type = DType::i32) {
  Kernel kernel = named_kernel("running_columns");
  const auto x = add_buffer(kernel, Reach::input, type, rows * columns);
  const auto y = add_buffer(kernel, Reach::output, type, rows * columns);
  const auto total = add_buffer(kernel, Reach::block, type, block);
  Phase phase = phase_over({{columns, block}});
  StageBuilder zero(kernel, {{block, 0}});
  zero.store(total, zero.loop(0), zero.number(0, type));
  StageBuilder scan(kernel, {{rows, -1}, {block, 0}});
  const NodeId column = scan.add(scan.outer(0), scan.loop(1));
  const NodeId at = scan.add(scan.scaled(scan.loop(0), columns), column);
  scan.scan(total, scan.loop(1), ScalarOp::add, scan.load(x, at), y, at);
  phase.stages = {zero.stage, scan.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// The largest of each row and the first place where it stands: a combiner by graph.
inline Kernel largest_place(std::int64_t rows, std::int64_t columns) {
  Kernel kernel = named_kernel("largest_place");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, rows * columns);
  const auto value = add_buffer(kernel, Reach::output, DType::f32, rows);
  const auto place = add_buffer(kernel, Reach::output, DType::i32, rows);
  StageBuilder graph(kernel);
  auto parameter = [&](std::uint32_t n, DType type) {
    return graph.node({.kind = NodeKind::parameter, .type = type, .number = n});
  };
  const NodeId v0 = parameter(0, DType::f32), i0 = parameter(1, DType::i32),
               v1 = parameter(2, DType::f32), i1 = parameter(3, DType::i32);
  const NodeId tie = graph.op(ScalarOp::equal, v0, v1);
  const NodeId before = graph.op(ScalarOp::less, i0, i1);
  const NodeId keep = graph.op(ScalarOp::bit_or, graph.op(ScalarOp::greater, v0, v1),
                               graph.op(ScalarOp::bit_and, tie, before));
  const std::vector<NodeId> results = {graph.op(ScalarOp::select, keep, v0, v1),
                                       graph.op(ScalarOp::select, keep, i0, i1)};
  Phase phase = phase_over({{rows, 3}});
  StageBuilder clear(kernel, {{3, 0}});
  const NodeId row = clear.add(clear.outer(0), clear.loop(0));
  clear.store(value, row, clear.bits(neutral_bits(ScalarOp::maximum, DType::f32), DType::f32));
  clear.store(place, row, clear.number(0x7fffffff, DType::i32));
  StageBuilder find(kernel, {{3, 0}, {columns, -1}});
  const NodeId at = find.add(find.outer(0), find.loop(0));
  const NodeId loaded = find.load(x, find.add(find.scaled(at, columns), find.loop(1)));
  Statement& update = find.update(value, at, ScalarOp::none, loaded);
  update.buffers.push_back(place);
  update.values.push_back(find.cast(find.loop(1), DType::i32));
  update.combiner.nodes = graph.stage.nodes;
  update.combiner.results = results;
  phase.stages = {clear.stage, find.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// out = base; out[where[i]] += x[i] wherever 0 <= where[i] < n, in order.
inline Kernel scatter_add(std::int64_t n, std::int64_t updates, bool any_order) {
  Kernel kernel = named_kernel("scatter_add");
  const auto base = add_buffer(kernel, Reach::input, DType::f32, n);
  const auto where = add_buffer(kernel, Reach::input, DType::i32, updates);
  const auto x = add_buffer(kernel, Reach::input, DType::f32, updates);
  const auto out = add_buffer(kernel, Reach::output, DType::f32, n);
  Phase copy = phase_over({{n, 8}});
  StageBuilder move(kernel, {{8, 0}});
  const NodeId at = move.add(move.outer(0), move.loop(0));
  move.store(out, at, move.load(base, at));
  copy.stages.push_back(move.stage);
  Phase add;
  StageBuilder scatter(kernel, {{updates, -1}});
  const NodeId place = scatter.cast(scatter.load(where, scatter.loop(0)), DType::i64);
  const NodeId inside =
      scatter.op(ScalarOp::bit_and, scatter.op(ScalarOp::greater_equal, place, scatter.index(0)),
                 scatter.op(ScalarOp::less, place, scatter.index(n)));
  scatter.update(out, place, ScalarOp::add, scatter.load(x, scatter.loop(0)), inside).any_order =
      any_order;
  add.stages.push_back(scatter.stage);
  kernel.phases = {copy, add};
  return kernel;
}

// y = x padded by `low` and `high` with 7, and x loaded and stored in place in scratch between.
inline Kernel padded(std::int64_t n, std::int64_t low, std::int64_t high) {
  Kernel kernel = named_kernel("padded");
  const auto x = add_buffer(kernel, Reach::input, DType::bf16, n);
  const auto y = add_buffer(kernel, Reach::output, DType::bf16, low + n + high);
  const auto held = add_buffer(kernel, Reach::block, DType::bf16, n);
  Phase phase;
  StageBuilder copy(kernel, {{n, -1}});
  copy.store(held, copy.loop(0), copy.load(x, copy.loop(0)));
  StageBuilder twice(kernel, {{n, -1}});
  const NodeId there = twice.loop(0), value = twice.load(held, there);
  twice.store(held, there, twice.add(value, value));
  StageBuilder pad(kernel, {{low + n + high, -1}});
  const NodeId there_too = pad.loop(0);
  const NodeId from = pad.op(ScalarOp::subtract, there_too, pad.index(low));
  const NodeId not_before = pad.op(ScalarOp::greater_equal, from, pad.index(0));
  const NodeId not_after = pad.op(ScalarOp::less, from, pad.index(n));
  const NodeId inside = pad.op(ScalarOp::bit_and, not_before, not_after);
  pad.store(y, there_too, pad.load(held, from, inside, pad.number(7, DType::bf16)));
  phase.stages = {copy.stage, twice.stage, pad.stage};
  kernel.phases.push_back(phase);
  return kernel;
}

// out[k] = operation k of a[i], b[i], c[i], for every operation on operands of `from` that gives
// `to`; a select chooses where a < b.
inline Kernel all_operations(DType from, DType to, std::int64_t n) {
  Kernel kernel = named_kernel("all_operations");
  for (int k = 0; k < 3; ++k) add_buffer(kernel, Reach::input, from, n);
  StageBuilder ops(kernel, {{n, -1}});
  std::vector<NodeId> in;
  for (std::uint32_t k = 0; k < 3; ++k) in.push_back(ops.load(k, ops.loop(0)));
  for (int o = 1; o <= static_cast<int>(ScalarOp::clamp); ++o) {
    const auto op = static_cast<ScalarOp>(o);
    if (!scalar_function(op, from, to)) continue;
    Node node{.kind = NodeKind::scalar, .op = op, .type = to};
    for (int k = 0; k < operand_count(op); ++k)
      node.in[static_cast<std::size_t>(k)] = in[static_cast<std::size_t>(k)];
    if (op == ScalarOp::select) node.in[0] = ops.op(ScalarOp::less, in[0], in[1]);
    const NodeId value = ops.node(node);
    ops.store(add_buffer(kernel, Reach::output, to, n), ops.loop(0), value);
  }
  kernel.phases.emplace_back().stages.push_back(ops.stage);
  return kernel;
}

// From every type to every other.
inline Kernel all_conversions(std::int64_t n) {
  Kernel kernel = named_kernel("all_conversions");
  std::vector<std::pair<DType, std::uint32_t>> inputs;
  for (DType from : all_dtypes())
    if (is_kernel_type(from)) inputs.emplace_back(from, add_buffer(kernel, Reach::input, from, n));
  StageBuilder convert(kernel, {{n, -1}});
  const NodeId at = convert.loop(0);
  for (const auto& [from, buffer] : inputs) {
    const NodeId x = convert.load(buffer, at);
    for (const auto& [to, other] : inputs)
      if (to != from)
        convert.store(add_buffer(kernel, Reach::output, to, n), at, convert.cast(x, to));
  }
  kernel.phases.emplace_back().stages.push_back(convert.stage);
  return kernel;
}

}  // namespace heddle::examples
