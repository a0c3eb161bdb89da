// Random programs of stencils one after the other, and the kernel that a whole one becomes.
#pragma once

#include <fmt/format.h>

#include "heddle/stablehlo.h"
#include "kernel/lower_sweeps.h"
#include "random_kernel.h"
#include "stitch/group.h"

namespace heddle::property {

// Means of the four neighbours, again and again; the border is zero.
inline std::string jacobi(std::int64_t side, int sweeps) {
  std::string text = fmt::format(
      "func.func @main(%x0: tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32> {{\n"
      "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %quarter = stablehlo.constant dense<0.25> : tensor<{1}x{1}xf32>\n",
      side, side - 2);
  for (int s = 0; s < sweeps; ++s)
    text += fmt::format(R"(
  %a{0} = stablehlo.slice %x{0} [0:{2}, 1:{3}] : (tensor<{4}x{4}xf32>) -> tensor<{2}x{2}xf32>
  %b{0} = stablehlo.slice %x{0} [2:{4}, 1:{3}] : (tensor<{4}x{4}xf32>) -> tensor<{2}x{2}xf32>
  %c{0} = stablehlo.slice %x{0} [1:{3}, 0:{2}] : (tensor<{4}x{4}xf32>) -> tensor<{2}x{2}xf32>
  %d{0} = stablehlo.slice %x{0} [1:{3}, 2:{4}] : (tensor<{4}x{4}xf32>) -> tensor<{2}x{2}xf32>
  %e{0} = stablehlo.add %a{0}, %b{0} : tensor<{2}x{2}xf32>
  %f{0} = stablehlo.add %e{0}, %c{0} : tensor<{2}x{2}xf32>
  %g{0} = stablehlo.add %f{0}, %d{0} : tensor<{2}x{2}xf32>
  %h{0} = stablehlo.multiply %g{0}, %quarter : tensor<{2}x{2}xf32>
  %x{1} = stablehlo.pad %h{0}, %zero, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<{2}x{2}xf32>, tensor<f32>) -> tensor<{4}x{4}xf32>
)",
                        s, s + 1, side - 2, side - 1, side);
  return text + fmt::format("  return %x{} : tensor<{}x{}xf32>\n}}\n", sweeps, side, side);
}

template <typename Numbers>
class RandomSweeps {
 public:
  explicit RandomSweeps(Numbers& numbers) : numbers_(numbers) {}

  // Of a matrix, and sometimes a second one of the same size that every sweep adds.
  std::string make(std::int64_t rows, std::int64_t columns, std::int64_t sweeps) {
    rows_ = rows;
    columns_ = columns;
    adds_ = numbers_.one_in(3);
    std::string now = "%arg0";
    for (std::int64_t s = 0; s < sweeps; ++s) now = sweep(now);
    const std::string whole = matrix(rows, columns);
    return fmt::format(
        "func.func @main(%arg0: {0}{1}) -> {2} {{\n"
        "  %edge = stablehlo.constant dense<0.5> : tensor<f32>\n{3}  return {4} : {2}\n}}\n",
        whole, adds_ ? ", %arg1: " + whole : "", matrix(rows_, columns_), text_, now);
  }

 private:
  static std::string matrix(std::int64_t rows, std::int64_t columns) {
    return fmt::format("tensor<{}x{}xf32>", rows, columns);
  }
  std::string line(const std::string& words) {
    const std::string name = fmt::format("%v{}", count_++);
    text_ += fmt::format("  {} = stablehlo.{}\n", name, words);
    return name;
  }
  std::string part(const std::string& of, std::int64_t row, std::int64_t column, std::int64_t high,
                   std::int64_t wide, const std::string& type) {
    return line(fmt::format("slice {} [{}:{}, {}:{}] : ({}) -> {}", of, row, row + high, column,
                            column + wide, type, matrix(high, wide)));
  }

  // Some places around each element, added up; then as large as before, or smaller.
  std::string sweep(const std::string& from) {
    const std::int64_t up = numbers_.between(0, 2), down = numbers_.between(0, 2);
    const std::int64_t left = numbers_.between(0, 3), right = numbers_.between(0, 3);
    const std::int64_t high = rows_ - up - down, wide = columns_ - left - right;
    const std::string type = matrix(high, wide), whole = matrix(rows_, columns_);
    std::string sum = part(from, 0, 0, high, wide, whole);
    const std::int64_t places = numbers_.between(1, 4);
    for (std::int64_t p = 0; p < places; ++p) {
      const std::string other = part(from, numbers_.between(0, up + down),
                                     numbers_.between(0, left + right), high, wide, whole);
      sum = line(fmt::format("{} {}, {} : {}", numbers_.pick({"add", "subtract", "maximum"}), sum,
                             other, type));
    }
    const std::int64_t kept_rows = rows_, kept_columns = columns_;
    if (adds_ && is_whole_) {
      const std::string more = part("%arg1", up, left, high, wide, whole);
      sum = line(fmt::format("add {}, {} : {}", sum, more, type));
    }
    if (is_whole_ = is_whole_ && !numbers_.one_in(4); is_whole_)
      return line(fmt::format(
          "pad {}, %edge, low = [{}, {}], high = [{}, {}], interior = [0, 0] : "
          "({}, tensor<f32>) -> {}",
          sum, up, left, kept_rows - high - up, kept_columns - wide - left, type, whole));
    rows_ = high;
    columns_ = wide;
    return sum;
  }

  Numbers& numbers_;
  std::string text_;
  std::int64_t rows_ = 0, columns_ = 0;
  int count_ = 0;
  bool adds_ = false, is_whole_ = true;
};

// A program whose ops are all one group of sweeps.
struct WholeSweeps {
  Program program;
  StitchGroup group;
  std::optional<Sweeps> sweeps;
  explicit WholeSweeps(const std::string& text) : program(read_stablehlo(text).value()) {
    const RegionId body = program.functions[0].body;
    const Readers readers(program, body);
    std::vector<OpId> ops;
    for (OpId id : program.region(body).ops)
      if (is_work(program.op(id))) ops.push_back(id);
    group = make_group(program, readers, std::move(ops));
    sweeps = find_sweeps(program, group);
  }
  Kernel kernel(std::int64_t rows) {
    group.choice.sweep_rows = rows;
    Kernel made = lower_sweeps(program, group, *sweeps).value();
    made.name = "sweeps";
    return made;
  }
};

}  // namespace heddle::property
