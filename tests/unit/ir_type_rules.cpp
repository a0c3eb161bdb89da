// Type rules give the types of results, family by family.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/builder.h"
#include "heddle/op.h"

namespace heddle::type_rules_tests {
namespace {

using testing::HasSubstr;

Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }
NamedAttr ints(Name name, Attr::Integers values) { return {name, {std::move(values)}}; }
NamedAttr whole(Name name, std::int64_t value) { return {name, {Attr::Integer{value}}}; }

// The types of an op's results as texts, or why there are none.
struct Inferred {
  Builder b;
  RegionId body = b.region(std::vector<Type>{});

  std::string operator()(std::string_view name, const std::vector<Type>& operands,
                         AttrDict attrs = {}, const std::vector<RegionId>& regions = {}) {
    std::vector<ValueId> values;
    for (const Type& type : operands)
      values.push_back(b.program.add_arg(body, b.program.intern(type)));
    const auto id =
        b.program.infer_op(body, *find_stablehlo_op(name), values, std::move(attrs), regions);
    if (!id) return id.reason();
    std::string text;
    const Op& op = b.program.op(*id);
    for (std::size_t i = 0; i < op.result_count; ++i)
      text += (i == 0 ? "" : ", ") + b.program.type_of(b.program.result(op, i)).str();
    return text;
  }
  RegionId combiner(DType dtype) {
    const Type scalar = Type::tensor(dtype, {});
    return b.region({scalar, scalar}, [](const Vars& in) -> Vars { return {in[0] + in[1]}; });
  }
};

TEST(TypeRules, OfElementwiseOps) {
  Inferred inferred;
  EXPECT_EQ(inferred("add", {f32({2}), f32({2})}), "tensor<2xf32>");
  EXPECT_EQ(inferred("abs", {Type::tensor(DType::c64, {3})}), "tensor<3xf32>");
  EXPECT_EQ(inferred("abs", {f32({3})}), "tensor<3xf32>");
  EXPECT_EQ(inferred("is_finite", {f32({3})}), "tensor<3xi1>");
  EXPECT_EQ(inferred("complex", {f32({}), f32({})}), "tensor<complex<f32>>");
  EXPECT_EQ(inferred("select", {Type::tensor(DType::i1, {}), f32({5}), f32({5})}), "tensor<5xf32>");
  EXPECT_EQ(inferred("clamp", {f32({}), f32({5}), f32({})}), "tensor<5xf32>");
}

TEST(TypeRules, OfMoves) {
  Inferred inferred;
  EXPECT_EQ(inferred("transpose", {f32({2, 3})}, {ints("permutation", {1, 0})}), "tensor<3x2xf32>");
  EXPECT_EQ(inferred("concatenate", {f32({2, 3}), f32({4, 3})}, {whole("dimension", 0)}),
            "tensor<6x3xf32>");
  EXPECT_EQ(
      inferred("slice", {f32({9})},
               {ints("start_indices", {1}), ints("limit_indices", {8}), ints("strides", {3})}),
      "tensor<3xf32>");
  EXPECT_EQ(inferred("pad", {f32({2}), f32({})},
                     {ints("edge_padding_low", {1}), ints("edge_padding_high", {-1}),
                      ints("interior_padding", {2})}),
            "tensor<4xf32>");
  EXPECT_THAT(inferred("pad", {f32({2}), f32({})},
                       {ints("edge_padding_low", {-9}), ints("edge_padding_high", {0}),
                        ints("interior_padding", {0})}),
              HasSubstr("[pad] C4"));
  EXPECT_EQ(inferred("dynamic_slice", {f32({9}), Type::tensor(DType::i32, {})},
                     {ints("slice_sizes", {4})}),
            "tensor<4xf32>");
}

TEST(TypeRules, OfReductionsByWhatTheBodyReturns) {
  Inferred inferred;
  EXPECT_EQ(inferred("reduce", {f32({2, 3}), f32({})}, {ints("dimensions", {0})},
                     {inferred.combiner(DType::f32)}),
            "tensor<3xf32>");
  // The body may work in a wider type.
  EXPECT_EQ(inferred("reduce", {f32({2, 3}), f32({})}, {ints("dimensions", {0, 1})},
                     {inferred.combiner(DType::f64)}),
            "tensor<f64>");
  EXPECT_THAT(inferred("reduce", {f32({2, 3}), f32({})}, {ints("dimensions", {0})},
                       {inferred.b.region(std::vector<Type>{})}),
              HasSubstr("a region is empty"));
  EXPECT_EQ(inferred("reduce_window", {f32({6}), f32({})},
                     {ints("window_dimensions", {2}), ints("window_strides", {2})},
                     {inferred.combiner(DType::f32)}),
            "tensor<3xf32>");
}

TEST(TypeRules, OfProducts) {
  Inferred inferred;
  EXPECT_EQ(inferred("dot", {f32({2, 3}), f32({3, 4})}), "tensor<2x4xf32>");
  const Attr sums{Attr::Struct{
      "dot", {ints("lhs_contracting_dimensions", {0}), ints("rhs_contracting_dimensions", {1})}}};
  EXPECT_EQ(inferred("dot_general", {f32({3, 2}), f32({4, 3})}, {{"dot_dimension_numbers", sums}}),
            "tensor<2x4xf32>");
}

TEST(TypeRules, OfSeveralResults) {
  Inferred inferred;
  const Type state = Type::tensor(DType::i32, {});
  const RegionId go = inferred.b.region(
      {state}, [&](const Vars& in) -> Vars { return {inferred.b.compare("LT", in[0], in[0])}; });
  const RegionId step = inferred.b.region({state}, [](const Vars& in) { return in; });
  EXPECT_EQ(inferred("while", {state}, {}, {go, step}), "tensor<i32>");
  EXPECT_EQ(inferred("batch_norm_training", {f32({4, 3}), f32({3}), f32({3})},
                     {{"epsilon", {Attr::Float{0.0, "f32"}}}, whole("feature_index", 1)}),
            "tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>");
  EXPECT_EQ(inferred("fft", {f32({8})},
                     {{"fft_type", {Attr::Enum{"fft_type", "RFFT"}}}, ints("fft_length", {8})}),
            "tensor<5xcomplex<f32>>");
}

// An op without types that follow leaves the program as it was.
TEST(TypeRules, AMistakeLeavesNothingBehind) {
  Inferred inferred;
  EXPECT_EQ(inferred("negate", {f32({2})}), "tensor<2xf32>");
  const std::uint64_t before = inferred.b.program.region(inferred.body).hash;
  const std::size_t ops = inferred.b.program.op_count();
  EXPECT_THAT(inferred("convert", {f32({2})}, {whole("x", 1)}), HasSubstr("does not follow"));
  EXPECT_THAT(inferred("add", {f32({2}), f32({3})}), HasSubstr("[add] C1"));
  EXPECT_THAT(inferred("add", {f32({2})}), HasSubstr("1 operands came in"));
  EXPECT_EQ(inferred.b.program.op_count(), ops);
  EXPECT_EQ(inferred.b.program.region(inferred.body).hash, before);
  EXPECT_EQ(inferred("negate", {f32({4})}), "tensor<4xf32>");
}

}  // namespace
}  // namespace heddle::type_rules_tests
