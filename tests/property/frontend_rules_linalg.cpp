// Index rules of transforms, solvers, normalisation and random numbers.
#include "index_check.h"

namespace heddle::index_check {
namespace {

TEST(IndexRuleOf, Fft) {
  for (const std::string kind : {"FFT", "IFFT", "RFFT", "IRFFT"})
    check_rule(4, [&](Random& random) {
      const Shape real = random_shape(random, 3, 4);
      const auto count = static_cast<std::size_t>(pick(random, 1, 2));
      Shape half = real;
      half.back() = real.back() / 2 + 1;
      const bool to_real = kind == "IRFFT", from_real = kind == "RFFT";
      const std::vector<std::int64_t> lengths(real.end() - static_cast<std::ptrdiff_t>(count),
                                              real.end());
      return generic_instance(
          "stablehlo.fft",
          {from_real ? type_text(real, "f32") : type_text(to_real ? half : real, "complex<f32>")},
          " {fft_type = #stablehlo<fft_type " + kind +
              ">, fft_length = array<i64: " + list_text(lengths) + ">}",
          {to_real ? type_text(real, "f32") : type_text(from_real ? half : real, "complex<f32>")});
    });
}

TEST(IndexRuleOf, TriangularSolve) {
  int seed = 0;
  for (bool left : {false, true})
    for (bool lower : {false, true})
      for (bool unit : {false, true})
        for (const std::string transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})
          check_rule(1, [&](Random&) {
            Random random(static_cast<unsigned>(++seed));
            const std::int64_t batch = pick(random, 1, 2), n = pick(random, 1, 3),
                               sides = pick(random, 1, 3);
            const std::string a = type_text({batch, n, n}, "f64"),
                              b = type_text({batch, left ? n : sides, left ? sides : n}, "f64");
            auto flag = [](bool on) { return std::string(on ? "true" : "false"); };
            return generic_instance("stablehlo.triangular_solve", {a, b},
                                    " {left_side = " + flag(left) + ", lower = " + flag(lower) +
                                        ", unit_diagonal = " + flag(unit) +
                                        ", transpose_a = #stablehlo<transpose " + transpose + ">}",
                                    {b});
          });
}

TEST(IndexRuleOf, Cholesky) {
  for (const char* lower : {"true", "false"})
    check_rule(3, [&](Random& random) {
      const std::int64_t n = pick(random, 1, 3);
      const std::string a = type_text({pick(random, 1, 3), n, n}, "f64");
      Instance instance =
          generic_instance("stablehlo.cholesky", {a}, " {lower = " + std::string(lower) + "}", {a});
      instance.exact = false;  // only a part of the triangle counts
      return instance;
    });
}

struct NormShapes {
  std::string operand, vector, attributes;
};
NormShapes norm_shapes(Random& random) {
  const Shape shape = random_shape(random, static_cast<std::size_t>(pick(random, 1, 3)), 3);
  const std::int64_t feature = pick(random, 0, static_cast<std::int64_t>(shape.size()) - 1);
  return {type_text(shape, "f64"), type_text({shape[static_cast<std::size_t>(feature)]}, "f64"),
          " {epsilon = 1.0e-3 : f32, feature_index = " + std::to_string(feature) + " : i64}"};
}

TEST(IndexRuleOf, BatchNormInference) {
  check_rule(6, [](Random& random) {
    const auto [x, v, attributes] = norm_shapes(random);
    return generic_instance("stablehlo.batch_norm_inference", {x, v, v, v, v}, attributes, {x});
  });
}

TEST(IndexRuleOf, BatchNormTraining) {
  check_rule(6, [](Random& random) {
    const auto [x, v, attributes] = norm_shapes(random);
    return generic_instance("stablehlo.batch_norm_training", {x, v, v}, attributes, {x, v, v});
  });
}

TEST(IndexRuleOf, BatchNormGrad) {
  check_rule(6, [](Random& random) {
    const auto [x, v, attributes] = norm_shapes(random);
    return generic_instance("stablehlo.batch_norm_grad", {x, v, v, v, x}, attributes, {x, v, v});
  });
}

TEST(IndexRuleOf, Rng) {
  for (const std::string kind : {"UNIFORM", "NORMAL"})
    for (const char* dtype : {"f32", "i32"})
      check_rule(kind == "NORMAL" && dtype[0] == 'i' ? 0 : 3, [&](Random& random) {
        const Shape shape = random_shape(random, 2, 4);
        const std::string scalar = type_text({}, dtype);
        Instance instance =
            generic_instance("stablehlo.rng", {scalar, scalar, "tensor<2xi64>"},
                             " {rng_distribution = #stablehlo<rng_distribution " + kind + ">}",
                             {type_text(shape, dtype)});
        instance.given[2] = {shape};
        instance.wild = false;  // an infinite mean leaves nothing of the deviation
        return instance;
      });
}

TEST(IndexRuleOf, RngBitGenerator) {
  struct Case {
    const char *algorithm, *dtype;
    std::int64_t words;
  };
  for (const Case& c :
       {Case{"THREE_FRY", "ui32", 2}, Case{"THREE_FRY", "ui64", 2}, Case{"PHILOX", "ui32", 2},
        Case{"PHILOX", "ui64", 3}, Case{"DEFAULT", "i32", 3}, Case{"PHILOX", "f32", 2}})
    check_rule(3, [&](Random& random) {
      const std::string state = type_text({c.words}, "ui64");
      return generic_instance(
          "stablehlo.rng_bit_generator", {state},
          " {rng_algorithm = #stablehlo<rng_algorithm " + std::string(c.algorithm) + ">}",
          {state, type_text(random_shape(random, 2, 4), c.dtype)});
    });
}

}  // namespace
}  // namespace heddle::index_check
