// Functions of mathematics over all of their range: next to the truth, and without a step that
// meets a subnormal number, which costs some processors a hundred times as much as any other.
#include <cmath>

#include "device_run.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle::functions_tests {
namespace {

using Real = long double;

struct Row {
  ScalarOp op;
  Real (*truth)(Real);
  int ulps;  // at most
};

const Row kRows[] = {
    {ScalarOp::exp, [](Real x) { return std::exp(x); }, 1},
    {ScalarOp::expm1, [](Real x) { return std::expm1(x); }, 1},
    {ScalarOp::log, [](Real x) { return std::log(x); }, 1},
    {ScalarOp::log1p, [](Real x) { return std::log1p(x); }, 1},
    {ScalarOp::logistic,
     [](Real x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }, 3},
    {ScalarOp::tanh, [](Real x) { return std::tanh(x); }, 1},
    {ScalarOp::erf, [](Real x) { return std::erf(x); }, 1},
    {ScalarOp::sin, [](Real x) { return std::sin(x); }, 1},
    {ScalarOp::cos, [](Real x) { return std::cos(x); }, 1},
    {ScalarOp::tan, [](Real x) { return std::tan(x); }, 1},
    {ScalarOp::sqrt, [](Real x) { return std::sqrt(x); }, 1},  // the truth is rounded twice
    {ScalarOp::rsqrt, [](Real x) { return 1 / std::sqrt(x); }, 1},
    {ScalarOp::cbrt, [](Real x) { return std::cbrt(x); }, 1},
};

// A function of one or two arguments as machine code.
template <typename T>
struct Function {
  Kernel kernel = named_kernel("function");
  std::vector<std::uint32_t> in;
  std::uint32_t out = 0;
  std::shared_ptr<const CpuKernel> code;

  Function(ScalarOp op, std::size_t n, int vector_bytes, int arguments = 1) {
    const auto count = static_cast<std::int64_t>(n);
    for (int i = 0; i < arguments; ++i)
      in.push_back(add_buffer(kernel, Reach::input, dtype_of<T>(), count));
    out = add_buffer(kernel, Reach::output, dtype_of<T>(), count);
    StageBuilder s(kernel, {{count, -1}});
    const NodeId at = s.loop(0), first = s.load(in[0], at);
    s.store(out, at, arguments == 1 ? s.op(op, first) : s.op(op, first, s.load(in[1], at)));
    kernel.phases.emplace_back().stages.push_back(s.stage);
    code = test_jit(vector_bytes).compile(kernel).value();
  }

  std::vector<T> operator()(const std::vector<std::vector<T>>& values) const {
    KernelData data(kernel);
    for (std::size_t i = 0; i < in.size(); ++i) data.set(in[i], values[i]);
    run_compiled(*code, kernel, data);
    return data.get<T>(out);
  }
};

// Every binade of both signs several times, with zeros, infinities and NaN.
template <typename T>
std::vector<T> everywhere() {
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr std::size_t n = 1 << 15;
  constexpr Word step = static_cast<Word>(~Word{0}) / n;
  std::vector<T> values;
  for (std::size_t i = 0; i < n; ++i)
    values.push_back(std::bit_cast<T>(static_cast<Word>(i * step + i * 97 % step)));
  for (double v : {0.0, -0.0, double(INFINITY), -double(INFINITY), double(NAN)})
    values.push_back(static_cast<T>(v));
  // Where exponentials end, each way, and the last of the subnormal numbers.
  for (int i = 0; i < 4000; ++i) values.push_back(static_cast<T>(-760 + 0.38 * i));
  for (int i = 0; i < 4000; ++i) values.push_back(static_cast<T>(-106 + 0.01 * i));
  for (int i = 0; i < 100; ++i)
    values.push_back(std::numeric_limits<T>::denorm_min() * static_cast<T>(i - 50));
  // Next to quarters of a turn, where little is left of an angle, and beside them.
  constexpr Real kQuarter = 1.57079632679489661923L;
  for (int i = 1; i < 2000; ++i)
    for (int turns : {i, 32771 * i, 500009 * i}) {
      values.push_back(static_cast<T>(kQuarter * turns));
      values.push_back(static_cast<T>(kQuarter * (turns + 0.001L * i)));
    }
  // Large ones that are nearest to a quarter of a turn among all of their type.
  for (double v : {6381956970095103 * 0x1p797, -6381956970095103 * 0x1p797, 0x1.6ac5b262ca1ffp849,
                   16367173 * 0x1p72, 5419351 * 0x1p50, double(std::numeric_limits<T>::max())})
    values.push_back(static_cast<T>(v));
  while (values.size() % 64 != 0) values.push_back(1);
  return values;
}

// Bases of all sizes with exponents of all sizes, and with those that lead to both sides of the
// smallest numbers and of the largest.
template <typename T>
struct Powers {
  std::vector<T> x, y;
  Powers() {
    using Limits = std::numeric_limits<T>;
    const double last = Limits::min_exponent - 1;  // 2^last is the smallest normal number
    const std::vector<T> all = everywhere<T>();
    for (std::size_t i = 0; i + 1 < all.size(); i += 3) {
      add(all[i], all[(i * 7) % all.size()]);
      const double slope = std::log2(std::abs(static_cast<double>(all[i])));
      for (double wanted : {last * 0.9, last, last - 1.5, last - 12, last - Limits::digits,
                            last * 3, -last + 1.99, -last + 2, 1e-3, -1e-9})
        add(all[i], static_cast<T>(wanted / slope));
      for (int whole : {-3, -2, -1, 0, 1, 2, 3, 8, 101}) add(all[i], static_cast<T>(whole));
    }
    while (x.size() % 256 != 0) add(1, 1);
  }

 private:
  void add(T base, T exponent) {
    x.push_back(base);
    y.push_back(exponent);
  }
};

// Numbers of all sizes above and beside each other; small ones of a few sizes apart as well, and
// such as have quotients of all sizes.
template <typename T>
struct Directions {
  std::vector<T> y, x;
  Directions() {
    const std::vector<T> all = everywhere<T>();
    const T least = std::numeric_limits<T>::denorm_min();
    for (std::size_t i = 0; i < all.size(); ++i) {
      y.push_back(all[i]);
      x.push_back(all[(i * 7) % all.size()]);
      y.push_back(least * static_cast<T>(i + 1));
      x.push_back(least * static_cast<T>((i * 977) % 100003 * (i % 3 + 1)) * (i % 2 == 0 ? 1 : -1));
    }
    for (T special : {T{0}, -T{0}, least, std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()})
      for (std::size_t i = 0; i < all.size(); i += 61) {
        add(special, all[i]);
        add(all[i], special);
      }
    constexpr int most = std::numeric_limits<T>::max_exponent;
    for (int i = 0; i < 8 * most; ++i) {
      const T size = std::ldexp(static_cast<T>(1 + 0.37 * (i % 3)), i % (2 * most) - most);
      for (int apart : {i * 7 % most, i % 64, i * 13 % (2 * most)}) {
        add(size,
            std::ldexp(static_cast<T>(i % 2 == 0 ? 1.3 : -1.7), i % (2 * most) - most + apart));
        add(std::ldexp(static_cast<T>(1.9), i % (2 * most) - most + apart), size);
      }
    }
    while (x.size() % 256 != 0) add(1, 1);
  }

 private:
  void add(T over, T under) {
    y.push_back(over);
    x.push_back(under);
  }
};

template <typename T>
void expect_directions_next_to_the_truth(int vector_bytes) {
  const Directions<T> all;
  const Function<T> atan2(ScalarOp::atan2, all.x.size(), vector_bytes, 2);
  const std::vector<T> out = atan2({all.y, all.x});
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_LE(distance(out[i], static_cast<T>(std::atan2(Real{all.y[i]}, Real{all.x[i]}))), 1)
        << "atan2 of " << all.y[i] << " and " << all.x[i] << " is " << out[i] << ", by vectors of "
        << vector_bytes;
}

template <typename T>
void expect_next_to_the_truth(int vector_bytes) {
  expect_directions_next_to_the_truth<T>(vector_bytes);
  const std::vector<T> in = everywhere<T>();
  for (const Row& row : kRows) {
    const Function<T> function(row.op, in.size(), vector_bytes);
    const std::vector<T> out = function({in});
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_LE(distance(out[i], static_cast<T>(row.truth(in[i]))), row.ulps)
          << name(row.op) << " of " << in[i] << " is " << out[i] << ", by vectors of "
          << vector_bytes;
  }
  const Powers<T> powers;
  const Function<T> power(ScalarOp::power, powers.x.size(), vector_bytes, 2);
  const std::vector<T> out = power({powers.x, powers.y});
  for (std::size_t i = 0; i < out.size(); ++i) {
    const T truth = static_cast<T>(std::pow(Real{powers.x[i]}, Real{powers.y[i]}));
    ASSERT_LE(distance(out[i], truth), 1)
        << powers.x[i] << " to the power of " << powers.y[i] << " is " << out[i] << " instead of "
        << truth << ", by vectors of " << vector_bytes;
    ASSERT_TRUE(std::isnan(truth) || std::signbit(out[i]) == std::signbit(truth))
        << powers.x[i] << " to the power of " << powers.y[i];
  }
}

TEST(DeviceFunctions, AreNextToTheTruthInF32) {
  HEDDLE_NEEDS_LLVM();
  for (int vector_bytes : {64, 32}) expect_next_to_the_truth<float>(vector_bytes);
}

TEST(DeviceFunctions, AreNextToTheTruthInF64) {
  HEDDLE_NEEDS_LLVM();
  for (int vector_bytes : {64, 32}) expect_next_to_the_truth<double>(vector_bytes);
}

#if defined(__x86_64__)

// The processor notes whether an operand or a result was subnormal.
constexpr unsigned kSubnormalOperand = 1U << 1, kUnderflow = 1U << 4;

// `n` at a time: whole vectors, a part of one, or a single number.
template <typename T>
void expect_no_subnormal_step(ScalarOp op, const std::vector<std::vector<T>>& in, int vector_bytes,
                              std::size_t n) {
  const Function<T> function(op, n, vector_bytes, static_cast<int>(in.size()));
  KernelData data(function.kernel);
  // Fewer of short ones, from all over the range.
  const std::size_t step = n < 16 ? 13 * n : n;
  for (std::size_t first = 0; first + n <= in[0].size(); first += step) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto begin = in[i].begin() + static_cast<std::ptrdiff_t>(first);
      data.set(function.in[i], std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(n)));
    }
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before & ~(kSubnormalOperand | kUnderflow));
    run_compiled(*function.code, function.kernel, data);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    ASSERT_EQ(after & (kSubnormalOperand | kUnderflow), 0U)
        << name(op) << " of " << in[0][first] << " to " << in[0][first + n - 1]
        << ", by vectors of " << vector_bytes << ", " << n << " at a time";
  }
}

template <typename T>
void expect_no_subnormal_steps(int vector_bytes, std::size_t n) {
  for (const Row& row : kRows) {
    const std::vector<T> in = everywhere<T>();
    expect_no_subnormal_step<T>(row.op, {in}, vector_bytes, n);
  }
  Powers<T> powers;
  expect_no_subnormal_step<T>(ScalarOp::power, {powers.x, powers.y}, vector_bytes, n);
  const Directions<T> directions;
  expect_no_subnormal_step<T>(ScalarOp::atan2, {directions.y, directions.x}, vector_bytes, n);
}

TEST(DeviceFunctions, MeetNoSubnormalNumberInF32) {
  HEDDLE_NEEDS_LLVM();
  for (int vector_bytes : {64, 32})
    for (std::size_t n : {256, 8, 4, 2, 1}) expect_no_subnormal_steps<float>(vector_bytes, n);
}

TEST(DeviceFunctions, MeetNoSubnormalNumberInF64) {
  HEDDLE_NEEDS_LLVM();
  for (int vector_bytes : {64, 32})
    for (std::size_t n : {256, 8, 4, 2, 1}) expect_no_subnormal_steps<double>(vector_bytes, n);
}

#endif

}  // namespace
}  // namespace heddle::functions_tests
