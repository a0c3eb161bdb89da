// Transforms, solvers, normalisation and random numbers.
#include "ir/eval_linalg.h"
#include "ir/op_families.h"

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
  std::vector<OpDef> rows;
  auto row = [&](std::string_view name, int operands, int results, Form form, TypeRule rule,
                 Evaluate evaluate, std::span<const FormWord> words = {}) {
    OpDef def;
    def.name = name;
    def.cls = OpClass::heavy;
    def.operands = operands;
    def.results = results;
    def.form = form;
    def.words = words;
    def.type_rule = rule;
    def.evaluate = evaluate;
    rows.push_back(def);
  };
  row("stablehlo.fft", 1, 1, Form::words, fft_rule, evaluate_fft, kFftWords);
  row("stablehlo.triangular_solve", 2, 1, Form::generic, triangular_solve_rule,
      evaluate_triangular_solve);
  row("stablehlo.cholesky", 1, 1, Form::words_same, cholesky_rule, evaluate_cholesky,
      kCholeskyWords);
  row("stablehlo.batch_norm_inference", 5, 1, Form::generic, batch_norm_inference_rule,
      evaluate_batch_norm_inference);
  row("stablehlo.batch_norm_training", 3, 3, Form::generic, batch_norm_training_rule,
      evaluate_batch_norm_training);
  row("stablehlo.batch_norm_grad", 5, 3, Form::generic, batch_norm_grad_rule,
      evaluate_batch_norm_grad);
  row("stablehlo.rng", 3, 1, Form::words, rng_rule, evaluate_rng, kRngWords);
  row("stablehlo.rng_bit_generator", 1, 2, Form::words, rng_bit_generator_rule,
      evaluate_rng_bit_generator, kRngBitWords);
  return rows;
}

}  // namespace heddle
