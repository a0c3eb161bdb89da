// Random kernels over long rows: several inputs, sums of a row that later stages need, and sums
// over rows. Exact, in any order: floats are only compared, added within a point and multiplied.
#pragma once

#include "random_kernel.h"

namespace heddle::property {

template <typename Numbers>
class RandomRows {
 public:
  explicit RandomRows(Numbers& numbers) : numbers_(numbers) {}

  // `chunks` of 0: rows are dealt out in any way.
  Kernel make(std::int64_t rows, std::int64_t columns, std::int64_t chunks) {
    rows_ = rows;
    columns_ = columns;
    kernel_ = named_kernel("rows");
    const std::int64_t inputs = numbers_.between(1, 3);
    for (std::int64_t i = 0; i < inputs; ++i)
      inputs_.push_back(add_buffer(kernel_, Reach::input, any_type(), rows * columns));
    if (numbers_.one_in(2)) gains_ = add_buffer(kernel_, Reach::input, any_type(), columns);
    const auto largest = add_buffer(kernel_, Reach::block, DType::f32, 1);
    const auto count = add_buffer(kernel_, Reach::block, DType::i32, 1);
    Phase phase = phase_over({{rows, 1}}, chunks);
    StageBuilder clear(kernel_);
    clear.store(largest, clear.index(0),
                clear.bits(neutral_bits(ScalarOp::maximum, DType::f32), DType::f32));
    clear.store(count, clear.index(0), clear.number(0, DType::i32));
    phase.stages.push_back(clear.stage);

    StageBuilder first(kernel_, {{columns, -1}});
    first.update(largest, first.index(0), ScalarOp::maximum, mixed(first));
    if (chunks > 0) add_column_sums(first, phase, chunks);
    phase.stages.push_back(first.stage);

    StageBuilder second(kernel_, {{columns, -1}});
    const NodeId near =
        second.op(ScalarOp::greater_equal,
                  second.op(ScalarOp::multiply, mixed(second), second.number(2, DType::f32)),
                  second.load(largest, second.index(0)));
    second.update(count, second.index(0), ScalarOp::add, second.cast(near, DType::i32));
    phase.stages.push_back(second.stage);

    const std::int64_t outputs = numbers_.between(1, 2);
    for (std::int64_t i = 0; i < outputs; ++i) phase.stages.push_back(results(largest, count));
    kernel_.phases.insert(kernel_.phases.begin(), phase);
    return std::move(kernel_);
  }

 private:
  DType any_type() {
    return numbers_.pick(
        {DType::bf16, DType::f32, DType::i8, DType::i1, DType::f16, DType::i32, DType::ui16});
  }
  NodeId place(StageBuilder& w) { return w.add(w.scaled(w.outer(0), columns_), w.loop(0)); }

  // What all stages compute alike, of all inputs.
  NodeId mixed(StageBuilder& w) {
    NodeId sum = w.number(0.5, DType::f32);
    for (std::uint32_t input : inputs_) {
      const NodeId value = w.cast(w.load(input, place(w)), DType::f32);
      sum = w.add(w.op(ScalarOp::multiply, sum, w.number(0.75, DType::f32)), value);
    }
    if (gains_ == kNone) return sum;
    return w.op(ScalarOp::multiply, sum, w.cast(w.load(gains_, w.loop(0)), DType::f32));
  }

  Stage results(std::uint32_t largest, std::uint32_t count) {
    const DType type = numbers_.pick({DType::bf16, DType::f32, DType::i8});
    const auto out = add_buffer(kernel_, Reach::output, type, rows_ * columns_);
    StageBuilder w(kernel_, {{columns_, -1}});
    NodeId value = numbers_.one_in(3) ? w.cast(w.load(inputs_[0], place(w)), DType::f32) : mixed(w);
    value = w.op(ScalarOp::subtract, value, w.load(largest, w.index(0)));
    value = w.add(value, w.cast(w.load(count, w.index(0)), DType::f32));
    w.store(out, place(w), w.cast(value, type));
    return w.stage;
  }

  // How often a column's number is above zero: by chunks, and then in all.
  void add_column_sums(StageBuilder& first, Phase& phase, std::int64_t chunks) {
    const auto parts = add_buffer(kernel_, Reach::phases, DType::i32, chunks * columns_);
    const auto sums = add_buffer(kernel_, Reach::output, DType::i32, columns_);
    const auto part = [&](StageBuilder& w) {
      return w.add(w.scaled(w.chunk(), columns_), w.loop(0));
    };
    StageBuilder begin(kernel_, {{columns_, -1}});
    begin.store(parts, part(begin), begin.number(0, DType::i32));
    phase.begin.push_back(begin.stage);
    const NodeId above =
        first.op(ScalarOp::greater, first.cast(first.load(inputs_[0], place(first)), DType::f32),
                 first.number(0, DType::f32));
    first.update(parts, part(first), ScalarOp::add, first.cast(above, DType::i32));
    Phase last = phase_over({{columns_, 1}});
    StageBuilder zero(kernel_, {{1, 0}});
    zero.store(sums, zero.add(zero.outer(0), zero.loop(0)), zero.number(0, DType::i32));
    StageBuilder total(kernel_, {{chunks, -1}, {1, 0}});
    const NodeId column = total.add(total.outer(0), total.loop(1));
    total.update(sums, column, ScalarOp::add,
                 total.load(parts, total.add(total.scaled(total.loop(0), columns_), column)));
    last.stages = {zero.stage, total.stage};
    kernel_.phases.push_back(last);
  }

  Numbers& numbers_;
  Kernel kernel_;
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<std::uint32_t> inputs_;
  std::uint32_t gains_ = kNone;
};

template <typename Numbers>
Kernel random_rows(Numbers& numbers, std::int64_t rows, std::int64_t columns, std::int64_t chunks) {
  return RandomRows<Numbers>(numbers).make(rows, columns, chunks);
}

}  // namespace heddle::property
