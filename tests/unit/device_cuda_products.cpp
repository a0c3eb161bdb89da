// What a program asks of its products.
#include <gtest/gtest.h>

#include "device/cuda/product_types.h"
#include "heddle/stablehlo.h"

namespace heddle::cuda {
namespace product_type_tests {

bool asks(const std::string& algorithm) {
  const Program program = read_stablehlo(
                              "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
                              "  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]" +
                              algorithm +
                              " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
                              "  return %0 : tensor<8x8xf32>\n}\n")
                              .value();
  return asks_for_tf32(program.attrs_of(program.op(0)));
}

std::string algorithm(std::string_view lhs, std::string_view rhs, int products) {
  return fmt::format(
      ", algorithm = <lhs_precision_type = {}, rhs_precision_type = {}, accumulation_type = f32, "
      "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {}, "
      "allow_imprecise_accumulation = false>",
      lhs, rhs, products);
}

TEST(CudaProducts, AreRoundedToTf32OnlyWhereTheProgramAsksForIt) {
  EXPECT_FALSE(asks(""));
  EXPECT_FALSE(asks(", precision = [DEFAULT, DEFAULT]"));
  EXPECT_TRUE(asks(algorithm("tf32", "tf32", 1)));
  EXPECT_FALSE(asks(algorithm("tf32", "f32", 1)));
  EXPECT_FALSE(asks(algorithm("f32", "f32", 1)));
  EXPECT_FALSE(asks(algorithm("tf32", "tf32", 3)));  // three products, nearly as good as f32
}

}  // namespace product_type_tests
}  // namespace heddle::cuda
