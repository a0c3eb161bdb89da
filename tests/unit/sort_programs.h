// Programs that sort, as JAX and users write them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace heddle::sorts {

// One key of any type, with its number beside it. `order`: "LT" or "GT".
inline std::string with_numbers(std::string_view shape, std::string_view type, int dimension,
                                std::string_view order = "LT") {
  const std::string_view kind = type.front() == 'u' || type == "i1" ? "UNSIGNED"
                                : type.front() == 'i'               ? "SIGNED"
                                                                    : "TOTALORDER";
  return fmt::format(R"(
    func.func @main(%x: tensor<{0}x{1}>, %n: tensor<{0}xi32>) -> (tensor<{0}x{1}>, tensor<{0}xi32>) {{
      %0:2 = "stablehlo.sort"(%x, %n) <{{dimension = {2} : i64, is_stable = true}}> ({{
      ^bb0(%a: tensor<{1}>, %b: tensor<{1}>, %c: tensor<i32>, %d: tensor<i32>):
        %p = stablehlo.compare {3}, %a, %b, {4} : (tensor<{1}>, tensor<{1}>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }}) : (tensor<{0}x{1}>, tensor<{0}xi32>) -> (tensor<{0}x{1}>, tensor<{0}xi32>)
      return %0#0, %0#1 : tensor<{0}x{1}>, tensor<{0}xi32>
    }})",
                     shape, type, dimension, order, kind);
}

// As jnp.sort has it: zeros are one, and so are numbers that are none.
inline std::string of_floats(std::string_view shape, std::string_view type, int dimension) {
  return fmt::format(R"(
    func.func @main(%x: tensor<{0}x{1}>) -> tensor<{0}x{1}> {{
      %zero = stablehlo.constant dense<0.0> : tensor<{1}>
      %nan = stablehlo.constant dense<0x{3}> : tensor<{1}>
      %0 = "stablehlo.sort"(%x) <{{dimension = {2} : i64, is_stable = true}}> ({{
      ^bb0(%a: tensor<{1}>, %b: tensor<{1}>):
        %1 = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<{1}>, tensor<{1}>) -> tensor<i1>
        %2 = stablehlo.select %1, %zero, %a : tensor<i1>, tensor<{1}>
        %3 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<{1}>, tensor<{1}>) -> tensor<i1>
        %4 = stablehlo.select %3, %nan, %2 : tensor<i1>, tensor<{1}>
        %5 = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<{1}>, tensor<{1}>) -> tensor<i1>
        %6 = stablehlo.select %5, %zero, %b : tensor<i1>, tensor<{1}>
        %7 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<{1}>, tensor<{1}>) -> tensor<i1>
        %8 = stablehlo.select %7, %nan, %6 : tensor<i1>, tensor<{1}>
        %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<{1}>, tensor<{1}>) -> tensor<i1>
        stablehlo.return %9 : tensor<i1>
      }}) : (tensor<{0}x{1}>) -> tensor<{0}x{1}>
      return %0 : tensor<{0}x{1}>
    }})",
                     shape, type, dimension,
                     type == "f64"   ? "7FF8000000000000"
                     : type == "f32" ? "7FC00000"
                     : type == "f16" ? "7E00"
                                     : "7FC0");
}

// By a first key, then by a second: no order of one key.
inline std::string by_two_keys(std::string_view shape, int dimension) {
  return fmt::format(R"(
    func.func @main(%x: tensor<{0}xi32>, %y: tensor<{0}xf32>) -> (tensor<{0}xi32>, tensor<{0}xf32>) {{
      %0:2 = "stablehlo.sort"(%x, %y) <{{dimension = {1} : i64, is_stable = true}}> ({{
      ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
        %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %2 = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %3 = stablehlo.compare GT, %c, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %4 = stablehlo.and %2, %3 : tensor<i1>
        %5 = stablehlo.or %1, %4 : tensor<i1>
        stablehlo.return %5 : tensor<i1>
      }}) : (tensor<{0}xi32>, tensor<{0}xf32>) -> (tensor<{0}xi32>, tensor<{0}xf32>)
      return %0#0, %0#1 : tensor<{0}xi32>, tensor<{0}xf32>
    }})",
                     shape, dimension);
}

}  // namespace heddle::sorts
