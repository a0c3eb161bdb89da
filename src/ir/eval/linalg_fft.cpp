// fft: discrete Fourier transforms of any length, computed in long double.
#include <numbers>

#include "ir/eval/linalg.h"
#include "ir/eval/reduce_common.h"

namespace heddle {

using namespace reduction;

namespace {

using Real = long double;
struct Point {
  Real re = 0, im = 0;
};
Point operator+(Point a, Point b) { return {a.re + b.re, a.im + b.im}; }
Point operator*(Point a, Point b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
// Infinite or NaN data must not spread through a factor that is exactly real or imaginary.
Point turned(Point x, Point root) {
  if (root.im == 0) return {x.re * root.re, x.im * root.re};
  if (root.re == 0) return {-x.im * root.im, x.re * root.im};
  return x * root;
}

// exp(2πi k/n), exact where the true value is 0, 1 or -1.
Point root_of_unity(std::int64_t k, std::int64_t n) {
  const std::int64_t quarter = k / n;  // k counts fourths of n-ths: see roots()
  const Real angle = std::numbers::pi_v<Real> / 2 * static_cast<Real>(k % n) / static_cast<Real>(n);
  const Point p{std::cos(angle), std::sin(angle)};
  switch (quarter) {
    case 0:
      return p;
    case 1:
      return {-p.im, p.re};
    case 2:
      return {-p.re, -p.im};
    default:
      return {p.im, -p.re};
  }
}

// exp(±2πi k/n) for k in [0, n).
std::vector<Point> roots(std::int64_t n, bool inverse) {
  std::vector<Point> all;
  for (std::int64_t k = 0; k < n; ++k) {
    all.push_back(root_of_unity(4 * k, n));
    if (!inverse) all.back().im = -all.back().im;
  }
  return all;
}

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

// One line of a transform: what is read at `from` with a step is written to `to` in order.
class FftLine {
 public:
  FftLine(std::int64_t n, bool inverse) : n_(n), roots_(roots(n, inverse)) {}

  std::vector<Point> operator()(const std::vector<Point>& line) const {
    std::vector<Point> result(line.size());
    if (n_ > 0) transform(line.data(), result.data(), n_, 1);
    return result;
  }

 private:
  // Splits into as many interleaved parts as the smallest factor of n, then combines them.
  void transform(const Point* from, Point* to, std::int64_t n, std::int64_t step) const {
    if (n == 1) {
      *to = *from;
      return;
    }
    const std::int64_t parts = smallest_factor(n), m = n / parts;
    std::vector<Point> pieces(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < parts; ++r)
      transform(from + r * step, pieces.data() + r * m, m, step * parts);
    for (std::int64_t k = 0; k < n; ++k) {
      Point sum;
      for (std::int64_t r = 0; r < parts; ++r) {
        const std::int64_t turn = r * k % n * (n_ / n);
        sum = sum + turned(pieces[static_cast<std::size_t>(r * m + k % m)],
                           roots_[static_cast<std::size_t>(turn)]);
      }
      to[k] = sum;
    }
  }

  std::int64_t n_;
  std::vector<Point> roots_;
};

// A complex tensor on its way through the transform.
struct Grid {
  Shape shape;
  std::vector<Point> values;
};

// Reads a line along an axis, makes another one of it, of `length`, and puts it in its place.
template <typename Make>
Grid along(const Grid& grid, std::size_t axis, std::int64_t length, Make make) {
  Grid result;
  result.shape = grid.shape;
  result.shape[axis] = length;
  result.values.resize(static_cast<std::size_t>(Type::tensor(DType::i1, result.shape).elements()));
  if (grid.values.empty() || result.values.empty()) return result;
  std::int64_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= grid.shape[i];
  for (std::size_t i = axis + 1; i < grid.shape.size(); ++i) inner *= grid.shape[i];
  const std::int64_t n = grid.shape[axis];
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      std::vector<Point> line;
      for (std::int64_t k = 0; k < n; ++k)
        line.push_back(grid.values[static_cast<std::size_t>((o * n + k) * inner + i)]);
      line = make(std::move(line));
      for (std::int64_t k = 0; k < length; ++k)
        result.values[static_cast<std::size_t>((o * length + k) * inner + i)] =
            line[static_cast<std::size_t>(k)];
    }
  return result;
}

Grid transform(const Grid& grid, std::size_t axis, bool inverse) {
  const std::int64_t n = grid.shape[axis];
  const FftLine line(grid.values.empty() ? 0 : n, inverse);
  const Real scale = inverse && n > 0 ? static_cast<Real>(n) : 1;
  return along(grid, axis, n, [&](std::vector<Point> values) {
    values = line(values);
    for (Point& p : values) p = {p.re / scale, p.im / scale};
    return values;
  });
}

Grid shortened(const Grid& grid, std::size_t axis, std::int64_t length) {
  return along(grid, axis, length, [](std::vector<Point> values) { return values; });
}

// The second half of the spectrum of real data mirrors the first.
Grid mirrored(const Grid& grid, std::size_t axis, std::int64_t n) {
  return along(grid, axis, n, [&](std::vector<Point> values) {
    for (std::int64_t k = n / 2 + 1; k < n; ++k) {
      const Point p = values[static_cast<std::size_t>(n - k)];
      values.push_back({p.re, -p.im});
    }
    values[0].im = 0;
    if (n % 2 == 0) values[static_cast<std::size_t>(n / 2)].im = 0;
    return values;
  });
}

Grid read_grid(const Array& array) {
  Grid grid{array.shape(), {}};
  if (is_complex(array.dtype()))
    for (Complex x : widened<Complex>(array)) grid.values.push_back({x.real(), x.imag()});
  else
    for (double x : widened<double>(array)) grid.values.push_back({x, 0});
  return grid;
}

Array write_grid(const Type& type, const Grid& grid) {
  std::vector<Complex> values;
  // Rounding to float goes through double, which is far finer.
  for (const Point& p : grid.values)
    values.emplace_back(static_cast<double>(p.re), static_cast<double>(p.im));
  return narrowed<Complex>(type, values);
}

// Multiplications that a line takes: n times the sum of its prime factors.
double line_cost(std::int64_t n) {
  double factors = 0;
  for (std::int64_t rest = n; rest > 1; rest /= smallest_factor(rest))
    factors += static_cast<double>(smallest_factor(rest));
  return factors;
}

DType complex_of(DType real) { return real == DType::f64 ? DType::c128 : DType::c64; }

// The element type of the result.
Expected<DType> fft_dtype(const Op& op, std::string_view kind, const Type& operand) {
  const DType dtype = operand.dtype;
  if (kind == "RFFT" && (dtype == DType::f32 || dtype == DType::f64)) return complex_of(dtype);
  if (kind != "RFFT" && is_complex(dtype)) return kind == "IRFFT" ? part_dtype(dtype) : dtype;
  return broken(op, "C2", "{} from {}: expected {}", kind, operand.str(),
                kind == "RFFT" ? "f32 or f64" : "complex elements");
}

}  // namespace

Expected<ResultTypes> fft_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const OpAttrs attrs{program, op};
  const Type& operand = operand_type(program, op, 0);
  HEDDLE_TRY(auto kind, attrs.word("fft_type", {"FFT", "IFFT", "RFFT", "IRFFT"}));
  HEDDLE_TRY(auto lengths, attrs.integers("fft_length"));
  if (lengths.size() > operand.rank())
    return broken(op, "C1", "fft_length = {} is longer than the rank of {}", list_text(lengths),
                  operand.str());
  HEDDLE_TRY(DType dtype, fft_dtype(op, kind, operand));
  if (lengths.empty() || lengths.size() > 3)
    return broken(op, "C3", "fft_length = {}, expected 1 to 3 lengths", list_text(lengths));
  const bool to_real = kind == "IRFFT", from_real = kind == "RFFT";
  // The last dimensions of the real side are the lengths; of the complex side, half of the last.
  auto complex_size = [](std::int64_t real) { return real == 0 ? 0 : real / 2 + 1; };
  Shape shape = operand.shape;
  if (to_real) std::copy(lengths.begin(), lengths.end(), shape.end() - std::ssize(lengths));
  if (from_real) shape.back() = complex_size(shape.back());
  const Shape& real = to_real ? shape : operand.shape;
  if (from_real && !std::equal(lengths.begin(), lengths.end(), real.end() - std::ssize(lengths)))
    return broken(op, "C4", "fft_length = {} does not match the last dimensions of {}",
                  list_text(lengths), operand.str());
  if (to_real) {
    Shape halved = shape;
    halved.back() = complex_size(halved.back());
    if (halved != operand.shape)
      return broken(op, "C5", "fft_length = {} does not go with the last dimensions of {}",
                    list_text(lengths), operand.str());
  }
  return typed(Type::tensor(dtype, std::move(shape)), "C2", "C5");
}

Expected<std::vector<Array>> evaluate_fft(EvalContext& ctx) {
  const std::string_view kind = word_or(ctx.attr("fft_type"), "FFT");
  const std::size_t rank = ctx.operands[0].shape().size();
  const std::size_t count = integers_or(ctx.attr("fft_length")).size();
  const Type& type = ctx.result_type();
  if (type.elements() == 0) return std::vector<Array>{Array(type)};
  const Shape& real = kind == "IRFFT" ? type.shape : ctx.operands[0].shape();
  for (std::size_t axis = rank - count; axis < rank; ++axis)
    if (line_cost(real[axis]) * static_cast<double>(type.elements()) > kMostSteps)
      return reason("{} a transform of length {} is too much for the reference interpreter",
                    bracketed(ctx.op), real[axis]);
  const bool inverse = kind == "IFFT" || kind == "IRFFT";
  Grid grid = read_grid(ctx.operands[0]);
  if (kind == "RFFT")
    grid = shortened(transform(grid, rank - 1, false), rank - 1, type.shape.back());
  for (std::size_t axis = rank - count; axis + 1 < rank; ++axis)
    grid = transform(grid, axis, inverse);
  if (kind == "IRFFT") grid = mirrored(grid, rank - 1, type.shape.back());
  if (kind != "RFFT") grid = transform(grid, rank - 1, inverse);
  return std::vector<Array>{write_grid(type, grid)};
}

}  // namespace heddle
