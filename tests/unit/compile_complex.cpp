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
  for (DType dtype : {DType::c64, DType::c128})
    for (std::string_view op : {"negate", "abs", "real", "imag", "exponential", "divide"}) {
      SCOPED_TRACE(op);
      const Program program = of(op, op == "divide" ? 2 : 1, dtype);
      const bool in_f64_itself = dtype == DType::c128;
      expect_same(program, numbers_for(program), {}, in_f64_itself ? 16 : 1);
      expect_kernels(compiled(program));
    }
}

// Numbers at the ends of f32, or whose squares lie beyond f64, and none at all: every one beside
// every other. (The reference has wider numbers between.)
template <typename T>
struct Unusual {
  std::vector<std::complex<T>> left, right;

  Unusual() {
    using Ends = std::numeric_limits<T>;
    constexpr bool kIsF32 = std::is_same_v<T, float>;
    const T inf = Ends::infinity(), nan = Ends::quiet_NaN(),
            most = kIsF32 ? T(3e38) : std::ldexp(T(1.5), 520),
            least = kIsF32 ? T(1e-40) : std::ldexp(T(1.5), -520);
    std::vector<std::complex<T>> numbers;
    for (T re : {T(0), T(-0.0), T(1.5), -inf, inf, nan, most, least})
      for (T im : {T(0), T(-2), inf, nan, least}) numbers.emplace_back(re, im);
    for (const auto& x : numbers)
      for (const auto& y : numbers) {
        left.push_back(x);
        right.push_back(y);
      }
  }
};

// Both NaN or both not, infinite alike, and else near to each other.
template <typename T>
bool alike(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  const T near = std::is_same_v<T, float> ? T(1e-6) : T(1e-14);
  return a == b || std::abs(a - b) <= near * std::abs(b) + std::numeric_limits<T>::min() * near;
}

template <typename T>
void expect_unusual_as_interpreted() {
  const Unusual<T> numbers;
  const Shape shape{static_cast<std::int64_t>(numbers.left.size())};
  const Array x = make_array<std::complex<T>>(shape, numbers.left);
  const Array y = make_array<std::complex<T>>(shape, numbers.right);
  Builder b;
  b.function("main", {x.type(), y.type()}, [&](const Vars& in) -> Vars {
    return {b.op("divide", in), b.op("exponential", {in[0]}), b.op("abs", {in[0]})};
  });
  const Program program = b.finish().value();
  const auto wanted = interpret(program, program.functions[0], {x, y}).value();
  const auto got = compiled(program).run({x, y}).value();
  for (int result : {0, 1})
    for (std::size_t i = 0; i < numbers.left.size(); ++i) {
      const auto is = got[result].template as<std::complex<T>>()[i];
      const auto due = wanted[result].template as<std::complex<T>>()[i];
      EXPECT_TRUE(alike(is.real(), due.real()) && alike(is.imag(), due.imag()))
          << (result == 0 ? "quotient of " : "exponential of ") << numbers.left[i] << " and "
          << numbers.right[i] << " is " << is << " instead of " << due;
    }
  for (std::size_t i = 0; i < numbers.left.size(); ++i)
    EXPECT_TRUE(alike(got[2].template as<T>()[i], wanted[2].template as<T>()[i]))
        << "|" << numbers.left[i] << "|";
}

TEST(Complex, QuotientsPowersAndMagnitudesOfUnusualNumbers) {
  expect_unusual_as_interpreted<float>();
  expect_unusual_as_interpreted<double>();
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
      %e = stablehlo.sqrt %c : tensor<8x16xcomplex<f32>>
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
