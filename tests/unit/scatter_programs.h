// Scatters whose updates meet.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace heddle::scatters {

// Rows of a table, each by the number of an index: as the gradient of an embedding has it. `op` is
// "add", or "" to replace.
inline std::string of_rows(int rows, int updates, int columns, std::string_view type,
                           std::string_view op = "add") {
  const std::string body = op.empty() ? "stablehlo.return %b : tensor<{3}>"
                                      : fmt::format(
                                            "%c = stablehlo.{} %a, %b : tensor<{{3}}>\n        "
                                            "stablehlo.return %c : tensor<{{3}}>",
                                            op);
  return fmt::format(fmt::runtime(R"(
    func.func @main(%x: tensor<{0}x{2}x{3}>, %i: tensor<{1}x1xi32>, %u: tensor<{1}x{2}x{3}>) -> tensor<{0}x{2}x{3}> {{
      %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
      ^bb0(%a: tensor<{3}>, %b: tensor<{3}>):
        )" + body + R"(
      }}) : (tensor<{0}x{2}x{3}>, tensor<{1}x1xi32>, tensor<{1}x{2}x{3}>) -> tensor<{0}x{2}x{3}>
      return %0 : tensor<{0}x{2}x{3}>
    }})"),
                     rows, updates, columns, type);
}

// All but the border of a matrix, at once.
inline std::string of_inside(int size) {
  return fmt::format(R"(
    func.func @main(%x: tensor<{0}x{0}xf32>, %i: tensor<2xi32>, %u: tensor<{1}x{1}xf32>) -> tensor<{0}x{0}xf32> {{
      %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %b : tensor<f32>
      }}) : (tensor<{0}x{0}xf32>, tensor<2xi32>, tensor<{1}x{1}xf32>) -> tensor<{0}x{0}xf32>
      return %0 : tensor<{0}x{0}xf32>
    }})",
                     size, size - 2);
}

// Single elements of a matrix, by index vectors of two numbers that may lie outside.
inline std::string of_elements(int rows, int columns, int updates) {
  return fmt::format(R"(
    func.func @main(%x: tensor<{0}x{1}xf32>, %i: tensor<{2}x2xi32>, %u: tensor<{2}xf32>) -> tensor<{0}x{1}xf32> {{
      %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.subtract %b, %a : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }}) : (tensor<{0}x{1}xf32>, tensor<{2}x2xi32>, tensor<{2}xf32>) -> tensor<{0}x{1}xf32>
      return %0 : tensor<{0}x{1}xf32>
    }})",
                     rows, columns, updates);
}

}  // namespace heddle::scatters
