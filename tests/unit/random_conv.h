// Convolutions of all forms that a program may have, with their arguments.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <random>

#include "heddle/stablehlo.h"
#include "ir/eval/scalar.h"

namespace heddle::random_conv {

struct Drawn {
  Program program;
  std::vector<Array> arguments;
  std::string text;
};

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int64_t from(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::vector<std::int64_t> order(std::size_t count) {
    std::vector<std::int64_t> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::int64_t>(i);
    if (from(0, 1) == 1) std::shuffle(all.begin(), all.end(), engine_);
    return all;
  }

 private:
  std::mt19937 engine_;
};

inline std::string tensor(const Shape& shape, DType dtype) {
  return fmt::format("tensor<{}x{}>", fmt::join(shape, "x"), name(dtype));
}

// Letters of the dimensions in the order in which they lie, and the shape in that order.
inline std::pair<std::string, Shape> laid_out(Dice& dice, std::string_view first,
                                              std::string_view second, const Shape& sizes) {
  Shape shape;
  std::vector<std::string> letters;
  for (std::int64_t d : dice.order(sizes.size())) {
    shape.push_back(sizes[static_cast<std::size_t>(d)]);
    letters.push_back(d == 0   ? std::string(first)
                      : d == 1 ? std::string(second)
                               : fmt::format("{}", d - 2));
  }
  return {fmt::format("[{}]", fmt::join(letters, ", ")), shape};
}

inline Array filled(const Shape& shape, DType dtype, Dice& dice) {
  Array array(Type::tensor(dtype, shape));
  const std::int64_t most = byte_size(dtype) > 2 ? 4 : 1;
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& x : array.template as_mutable<T>())
      x = convert_scalar<T>(static_cast<std::int32_t>(dice.from(-most, most)));
  });
  return array;
}

// Nothing where the window does not fit. Sums of products are exact.
inline std::optional<Drawn> draw(unsigned seed, DType dtype = DType::f64) {
  Dice dice(seed);
  const auto spatial = static_cast<std::size_t>(dice.from(0, 3));
  const std::int64_t groups = dice.from(0, 2) == 0 ? dice.from(2, 3) : 1;
  const bool by_batch = groups > 1 && dice.from(0, 1) == 1;
  const std::int64_t batch = dice.from(1, 3) * (by_batch ? groups : 1), inputs = dice.from(1, 3),
                     outputs = dice.from(1, 3) * groups;
  Shape in = {batch, by_batch ? inputs : inputs * groups}, kernel = {inputs, outputs},
        out = {batch / (by_batch ? groups : 1), outputs};
  std::vector<std::string> strides, pads, holes, dilations, reversed;
  for (std::size_t s = 0; s < spatial; ++s) {
    const std::int64_t image = dice.from(1, 6), window = dice.from(1, 6),
                       stride = dice.from(0, 2) == 0 ? dice.from(2, 3) : 1,
                       hole = dice.from(0, 2) == 0 ? dice.from(2, 3) : 1,
                       dilation = dice.from(0, 2) == 0 ? dice.from(2, 3) : 1,
                       low = dice.from(-1, 4), high = dice.from(0, 1) == 0 ? low : dice.from(-1, 4);
    const std::int64_t room = (image - 1) * hole + 1 + low + high - (window - 1) * dilation - 1;
    if (room < 0) return {};
    in.push_back(image);
    kernel.push_back(window);
    out.push_back(room / stride + 1);
    strides.push_back(fmt::format("{}", stride));
    pads.push_back(fmt::format("[{}, {}]", low, high));
    holes.push_back(fmt::format("{}", hole));
    dilations.push_back(fmt::format("{}", dilation));
    reversed.push_back(dice.from(0, 3) == 0 ? "true" : "false");
  }
  const auto [in_letters, in_shape] = laid_out(dice, "b", "f", in);
  const auto [kernel_letters, kernel_shape] = laid_out(dice, "i", "o", kernel);
  const auto [out_letters, out_shape] = laid_out(dice, "b", "f", out);
  const auto list = [](const auto& items) { return fmt::format("[{}]", fmt::join(items, ", ")); };
  Drawn drawn;
  drawn.text = fmt::format(
      R"(func.func @main(%x: {0}, %w: {1}) -> {2} {{
  %0 = stablehlo.convolution(%x, %w) dim_numbers = {3}x{4}->{5}, window = {{stride = {6}, pad = {7}, lhs_dilate = {8}, rhs_dilate = {9}, reverse = {10}}} {{batch_group_count = {11} : i64, feature_group_count = {12} : i64}} : ({0}, {1}) -> {2}
  return %0 : {2}
}})",
      tensor(in_shape, dtype), tensor(kernel_shape, dtype), tensor(out_shape, dtype), in_letters,
      kernel_letters, out_letters, list(strides), list(pads), list(holes), list(dilations),
      list(reversed), by_batch ? groups : 1, by_batch ? 1 : groups);
  drawn.program = read_stablehlo(drawn.text).value();
  drawn.arguments = {filled(in_shape, dtype, dice), filled(kernel_shape, dtype, dice)};
  return drawn;
}

}  // namespace heddle::random_conv
