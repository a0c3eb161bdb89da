#include "compile/calibrate_texts.h"

#include <fmt/format.h>

namespace heddle::trials {

std::string loop_text(int turns, const std::string& carried, const std::string& other,
                      const std::string& body) {
  return fmt::format(R"(func.func @main(%x: {1}, %a: {2}) -> {1} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<{0}> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, {1}
  cond {{
    %go = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
{3}
    stablehlo.return %next, %z : tensor<i32>, {1}
  }}
  return %r#1 : {1}
}}
)",
                     turns, carried, other, body);
}

std::string negations(int count) {
  std::string head, types, body, given;
  for (int i = 0; i < count; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    head += fmt::format("{}%x{}: tensor<16xf32>", comma, i);
    types += fmt::format("{}tensor<16xf32>", comma);
    body += fmt::format("%y{0} = stablehlo.negate %x{0} : tensor<16xf32>\n", i);
    given += fmt::format("{}%y{}", comma, i);
  }
  return fmt::format("func.func @main({0}) -> ({1}) {{\n{2}return {3} : {1}\n}}\n", head, types,
                     body, given);
}

std::string vector_type(std::int64_t n) { return fmt::format("tensor<{}xf32>", n); }
std::string matrix_type(std::int64_t m, std::int64_t n, const std::string& element) {
  return fmt::format("tensor<{}x{}x{}>", m, n, element);
}

// Sums and products, one after the other, of which a processor has as many of each as it can.
std::string chain(std::int64_t n, int length) {
  std::string text, last = "%y";
  for (int i = 0; i < length; ++i) {
    const std::string next = i + 1 == length ? "%z" : fmt::format("%c{}", i);
    text += fmt::format("%{} = stablehlo.{} {}, %a : {}\n", next.substr(1),
                        i % 2 == 0 ? "multiply" : "add", last, vector_type(n));
    last = next;
  }
  return text;
}

std::string exponentials(std::int64_t n, int count) {
  std::string text, last = "%y";
  const std::string type = vector_type(n);
  for (int i = 0; i < count; ++i) {
    text += fmt::format(
        "%n{0} = stablehlo.negate {1} : {2}\n%e{0} = stablehlo.exponential %n{0} : {2}\n", i, last,
        type);
    last = fmt::format("%e{}", i);
  }
  return text + fmt::format("%z = stablehlo.add {}, %a : {}\n", last, type);
}

// Elements at places that data say.
std::string gathered(std::int64_t n) {
  return fmt::format(
      "%p = stablehlo.convert %y : (tensor<{0}xf32>) -> tensor<{0}xi32>\n"
      "%q = stablehlo.reshape %p : (tensor<{0}xi32>) -> tensor<{0}x1xi32>\n"
      "%g = \"stablehlo.gather\"(%a, %q) <{{dimension_numbers = "
      "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
      "indices_are_sorted = false, slice_sizes = array<i64: 1>}}> : (tensor<{0}xf32>, "
      "tensor<{0}x1xi32>) -> tensor<{0}xf32>\n"
      "%z = stablehlo.add %g, %y : tensor<{0}xf32>\n",
      n);
}

// There and back: m x k by k x n, then by n x k.
std::string two_products(std::int64_t m, std::int64_t n, std::int64_t k,
                         const std::string& element) {
  return fmt::format(
      "%d = stablehlo.dot_general %y, %a, contracting_dims = [1] x [0] : ({0}, {1}) -> {2}\n"
      "%z = stablehlo.dot_general %d, %a, contracting_dims = [1] x [1] : ({2}, {1}) -> {0}\n",
      matrix_type(m, k, element), matrix_type(k, n, element), matrix_type(m, n, element));
}

// Of f64, whose windows are always laid out: oneDNN has no convolutions of it.
std::string images_type(std::int64_t channels) {
  return fmt::format("tensor<2x16x16x{}xf64>", channels);
}
std::string window_type(std::int64_t channels) {
  return fmt::format("tensor<3x3x{0}x{0}xf64>", channels);
}

std::string convolution(std::int64_t channels) {
  return fmt::format(
      "%z = stablehlo.convolution(%y, %a) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
      "window = {{stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, "
      "1], reverse = [false, false]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : "
      "i64}} : ({0}, {1}) -> {0}\n",
      images_type(channels), window_type(channels));
}

}  // namespace heddle::trials
