// Pieces that an index rule does not allow.
#include "heddle/op_piece.h"
#include "heddle/stablehlo.h"
#include "wrong_use.h"

namespace heddle {
namespace {

// A piece of the only op in main, with a range for each factor.
Expected<OpPiece> piece(std::string_view op, std::vector<FactorRange> ranges) {
  const Program program =
      read_stablehlo("func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n%0 = " +
                     std::string(op) + "\nreturn %0 : tensor<2x4xf32>\n}\n")
          .value();
  const Op& only = program.op(program.region(program.functions[0].body).ops[0]);
  return piece_of(program, only, index_rule(program, only), ranges);
}

constexpr std::string_view kUnknown =
    "stablehlo.custom_call @f(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>";
constexpr std::string_view kTanh = "stablehlo.tanh %x : tensor<2x4xf32>";

WRONG_USE(PieceError, AWholeFactorIsSplit, piece(kUnknown, {{0, 1}, {0, 4}, {0, 2}, {0, 4}}),
          "stablehlo.custom_call", "must be whole", "got [0, 1)")
WRONG_USE(PieceError, ARangeBeginsBeforeTheFactor, piece(kTanh, {{-1, 1}, {0, 4}}),
          "stablehlo.tanh", "factor 0", "1 values from -1 on", "negative")
WRONG_USE(PieceError, ANegativeSize, piece(kTanh, {{0, -2}, {0, 4}}), "stablehlo.tanh",
          "-2 values from 0 on", "negative")

}  // namespace
}  // namespace heddle
