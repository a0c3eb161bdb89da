// Transforms, solvers, normalisation and random numbers.
#include "ir/eval/linalg.h"

#include "ir/ops/op_families.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

using Kind = FormWord::Kind;
constexpr FormWord kFftWords[] = {{"type", "fft_type", Kind::word, "fft_type"},
                                  {"length", "fft_length"}};
constexpr FormWord kCholeskyWords[] = {{"lower", "lower", Kind::boolean}};
constexpr FormWord kRngWords[] = {
    {"distribution", "rng_distribution", Kind::word, "rng_distribution"}};
constexpr FormWord kRngBitWords[] = {{"algorithm", "rng_algorithm", Kind::word, "rng_algorithm"}};

}  // namespace

std::vector<OpDef> linalg_ops() {
  return {
      {.name = "stablehlo.fft",
       .cls = OpClass::heavy,
       .form = Form::words,
       .words = kFftWords,
       .type_rule = fft_rule,
       .evaluate = evaluate_fft,
       .index_rule = fft_index_rule,
       .call = DeviceCall::fft,
       .parts = Parts::transform},
      {.name = "stablehlo.triangular_solve",
       .cls = OpClass::heavy,
       .operands = 2,
       .form = Form::generic,
       .attributes = "left_side lower unit_diagonal transpose_a",
       .type_rule = triangular_solve_rule,
       .evaluate = evaluate_triangular_solve,
       .index_rule = triangular_solve_index_rule},
      {.name = "stablehlo.cholesky",
       .cls = OpClass::heavy,
       .form = Form::words_same,
       .words = kCholeskyWords,
       .type_rule = cholesky_rule,
       .evaluate = evaluate_cholesky,
       .index_rule = cholesky_index_rule},
      // One routine over batches of matrices: routine = "getrf", options = {uplo = 76 : ui8}.
      {.name = "heddle.lapack",
       .cls = OpClass::heavy,
       .operands = {1, -1},
       .results = {1, -1},
       .form = Form::generic,
       .attributes = "routine options",
       .type_rule = given<lapack_rule>,
       .evaluate = evaluate_lapack,
       .index_rule = lapack_index_rule},
      // A matrix by its elements, the first of each row, and the columns; times a dense one.
      {.name = "heddle.csr_product",
       .cls = OpClass::heavy,
       .operands = 4,
       .form = Form::generic,
       .type_rule = given<csr_product_rule>,
       .evaluate = evaluate_csr_product},
      {.name = "stablehlo.batch_norm_inference",
       .cls = OpClass::heavy,
       .operands = 5,
       .form = Form::generic,
       .attributes = "epsilon feature_index",
       .type_rule = batch_norm_inference_rule,
       .evaluate = evaluate_batch_norm_inference,
       .index_rule = batch_norm_inference_index_rule},
      {.name = "stablehlo.batch_norm_training",
       .cls = OpClass::heavy,
       .operands = 3,
       .results = 3,
       .form = Form::generic,
       .attributes = "epsilon feature_index",
       .type_rule = batch_norm_training_rule,
       .evaluate = evaluate_batch_norm_training,
       .index_rule = batch_norm_training_index_rule},
      {.name = "stablehlo.batch_norm_grad",
       .cls = OpClass::heavy,
       .operands = 5,
       .results = 3,
       .form = Form::generic,
       .attributes = "epsilon feature_index",
       .type_rule = batch_norm_grad_rule,
       .evaluate = evaluate_batch_norm_grad,
       .index_rule = batch_norm_grad_index_rule},
      {.name = "stablehlo.rng",
       .cls = OpClass::heavy,
       .operands = 3,
       .form = Form::words,
       .words = kRngWords,
       .type_rule = given<rng_rule>,
       .evaluate = evaluate_rng,
       .index_rule = rng_index_rule,
       .edit_piece = edit_random_piece,
       .draws = true,
       .parts = Parts::on_every_device},
      {.name = "stablehlo.rng_bit_generator",
       .cls = OpClass::heavy,
       .results = 2,
       .form = Form::words,
       .words = kRngBitWords,
       .type_rule = given<rng_bit_generator_rule>,
       .evaluate = evaluate_rng_bit_generator,
       .index_rule = rng_bit_generator_index_rule,
       .edit_piece = edit_random_piece,
       .bits = true,
       .parts = Parts::on_every_device},
  };
}

}  // namespace heddle
