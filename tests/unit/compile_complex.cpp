// Complex numbers in kernels, as their parts, against the reference evaluation.
#include <limits>

#include "compiled.h"
#include "heddle/builder.h"
#include "heddle/op.h"

namespace heddle {
namespace {

// Every step is a kernel: nothing is left to the reference evaluation.
void expect_kernels(const Executable& executable) {
  for (const StepInfo& step : executable.steps()) EXPECT_EQ(step.kind, "kernel") << step.name;
}

// Small whole numbers in both parts.
std::vector<Array> numbers_for(const Program& program) {
  std::vector<Array> arguments = arguments_for(program);
  for (Array& a : arguments)
    dispatch(a.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (ComplexScalar<T>) {
        auto numbers = a.template as_mutable<T>();
        for (std::size_t i = 0; i < numbers.size(); ++i)
          numbers[i] = {numbers[i].real(), static_cast<typename T::value_type>(i % 11) - 4};
      }
    });
  return arguments;
}

Program of(std::string_view op, std::size_t operands, DType dtype = DType::c64) {
  Builder b;
  b.function("main", std::vector<Type>(operands, Type::tensor(dtype, {7, 33})),
             [&](const Vars& in) -> Vars { return {b.op(op, in)}; });
  return b.finish().value();
}

TEST(Complex, ArithmeticIsDoneInKernels) {
  for (DType dtype : {DType::c64, DType::c128})
    for (std::string_view op : {"add", "subtract", "multiply"}) {
      SCOPED_TRACE(op);
      const Program program = of(op, 2, dtype);
      expect_same(program, numbers_for(program), {}, 1);
      expect_kernels(compiled(program));
    }
  for (std::string_view op : {"negate", "abs", "real", "imag"}) {
    SCOPED_TRACE(op);
    const Program program = of(op, 1);
    expect_same(program, numbers_for(program), {}, 1);
    expect_kernels(compiled(program));
  }
  const Program program = of("divide", 2);
  expect_same(program, numbers_for(program), {}, 1);
  expect_kernels(compiled(program));
}

// The parts of the same element are both NaN or both not, and infinite alike.
TEST(Complex, QuotientsAndMagnitudesOfUnusualNumbers) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::complex<float>> numbers, left, right;
  for (float re : {0.0F, -0.0F, 1.5F, -inf, inf, nan, 3e38F})
    for (float im : {0.0F, -2.0F, inf, nan, 1e-40F}) numbers.emplace_back(re, im);
  for (const auto& x : numbers)
    for (const auto& y : numbers) {
      left.push_back(x);
      right.push_back(y);
    }
  const Shape shape{static_cast<std::int64_t>(left.size())};
  const Array x = make_array<std::complex<float>>(shape, left);
  const Array y = make_array<std::complex<float>>(shape, right);
  Builder b;
  b.function("main", {x.type(), y.type()},
             [&](const Vars& in) -> Vars { return {b.op("divide", in), b.op("abs", {in[0]})}; });
  const Program program = b.finish().value();
  const auto wanted = interpret(program, program.functions[0], {x, y}).value();
  const auto got = compiled(program).run({x, y}).value();
  const auto quotients = got[0].as<std::complex<float>>();
  const auto right_quotients = wanted[0].as<std::complex<float>>();
  const auto alike = [](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
    return a == b || std::abs(a - b) <= 1e-6F * std::abs(b);
  };
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_TRUE(alike(quotients[i].real(), right_quotients[i].real()) &&
                alike(quotients[i].imag(), right_quotients[i].imag()))
        << left[i] << " / " << right[i] << " is " << quotients[i] << " instead of "
        << right_quotients[i];
    EXPECT_TRUE(alike(got[1].as<float>()[i], wanted[1].as<float>()[i])) << "|" << left[i] << "|";
  }
}

TEST(Complex, MovesAndChoices) {
  const std::string kText = R"(
    func.func @main(%x: tensor<6x8xcomplex<f32>>, %p: tensor<6x8xi1>, %r: tensor<8xf32>,
                    %i: tensor<i32>) ->
        (tensor<16x6xcomplex<f32>>, tensor<6x8xi1>, tensor<2x8xcomplex<f32>>) {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<6x8xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
      %c = stablehlo.convert %r : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
      %b = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<8xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
      %j = stablehlo.concatenate %t, %b, dim = 0 : (tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>) -> tensor<16x6xcomplex<f32>>
      %y = stablehlo.add %x, %x : tensor<6x8xcomplex<f32>>
      %s = stablehlo.select %p, %x, %y : tensor<6x8xi1>, tensor<6x8xcomplex<f32>>
      %e = stablehlo.compare EQ, %s, %x : (tensor<6x8xcomplex<f32>>, tensor<6x8xcomplex<f32>>) -> tensor<6x8xi1>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %d = stablehlo.dynamic_slice %s, %i, %z, sizes = [2, 8] : (tensor<6x8xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<2x8xcomplex<f32>>
      return %j, %e, %d : tensor<16x6xcomplex<f32>>, tensor<6x8xi1>, tensor<2x8xcomplex<f32>>
    })";
  expect_same(read(kText), numbers_for(read(kText)));
  expect_kernels(compiled(read(kText)));
}

// What has no form for the parts stands between kernels.
TEST(Complex, MeetsOpsThatTakeItWhole) {
  const Program program = read(R"(
    func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %c = stablehlo.convert %x : (tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>>
      %e = stablehlo.exponential %c : tensor<8x16xcomplex<f32>>
      %p = stablehlo.multiply %e, %c : tensor<8x16xcomplex<f32>>
      %r = stablehlo.imag %p : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
      %q = stablehlo.real %p : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
      %s = stablehlo.add %r, %q : tensor<8x16xf32>
      return %s : tensor<8x16xf32>
    })");
  expect_same(program, arguments_for(program), {}, 2);
}

}  // namespace
}  // namespace heddle
