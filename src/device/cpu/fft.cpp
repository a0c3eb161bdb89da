// fft by kissfft, in double precision; lines along each axis, many at a time.
#include <complex>
#include <kissfft/kissfft.hh>

#include "cost/sharing.h"
#include "device/cpu/calls.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle::cpu {

namespace {

using Point = std::complex<double>;

class FftCall final : public LibraryCall {
 public:
  FftCall(const Type& operand, const Type& result, std::string_view kind, std::size_t axes)
      : operand_(operand), result_(result), kind_(kind), axes_(axes) {
    grid_ = kind == "IRFFT" ? result.shape : operand.shape;
    for (std::int64_t n : grid_) elements_ *= n;
    const bool inverse = kind_ == "IFFT" || kind_ == "IRFFT";
    for (std::size_t d = grid_.size() - axes_; d < grid_.size(); ++d)
      plans_.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(grid_[d], 1)), inverse);
  }

  std::string text() const override {
    std::string lengths;
    for (std::size_t d = grid_.size() - axes_; d < grid_.size(); ++d)
      lengths += (lengths.empty() ? "" : "x") + std::to_string(grid_[d]);
    return fmt::format("{} {}", kind_, lengths);
  }
  std::int64_t workspace_bytes() const override {
    return elements_ * static_cast<std::int64_t>(sizeof(Point));
  }

  Verdict run(const CallFrame& frame) const override {
    auto* grid = reinterpret_cast<Point*>(frame.workspace);
    read(frame.operands[0], grid, frame.pool);
    const std::size_t last = grid_.size() - 1;
    const bool inverse = kind_ == "IFFT" || kind_ == "IRFFT";
    if (kind_ == "RFFT") transform(grid, last, false, frame.pool);
    for (std::size_t axis = grid_.size() - axes_; axis < last; ++axis)
      transform(grid, axis, inverse, frame.pool);
    if (kind_ == "IRFFT") mirror(grid);
    if (kind_ != "RFFT") transform(grid, last, inverse, frame.pool);
    write(grid, frame.results[0], frame.pool);
    return yes();
  }

 private:
  // Lines of the grid of length `inside`, with `held` elements in the tensor at hand.
  template <typename Move>
  void each_line(std::int64_t held, ThreadPool& pool, Move move) const {
    const std::int64_t whole = grid_.back(), lines = elements_ / whole;
    const std::int64_t group = std::max<std::int64_t>(1, cost::kTransformPart / whole);
    pool.parallel_for((lines + group - 1) / group, [&](std::int64_t part, int) {
      for (std::int64_t l = part * group; l < std::min(lines, (part + 1) * group); ++l)
        for (std::int64_t i = 0; i < held; ++i) move(l * whole + i, l * held + i);
    });
  }

  void read(const std::byte* from, Point* grid, ThreadPool& pool) const {
    const std::int64_t held = operand_.shape.back();
    if (held < grid_.back()) std::fill_n(grid, elements_, Point{});
    const auto copy = [&](auto tag) {
      const auto* in = reinterpret_cast<const decltype(tag)*>(from);
      each_line(held, pool, [&](std::int64_t to, std::int64_t at) { grid[to] = Point(in[at]); });
    };
    if (operand_.dtype == DType::f32) return copy(float{});
    if (operand_.dtype == DType::f64) return copy(double{});
    if (operand_.dtype == DType::c64) return copy(std::complex<float>{});
    copy(Point{});
  }

  void write(const Point* grid, std::byte* to, ThreadPool& pool) const {
    const std::int64_t held = result_.shape.back();
    const auto copy = [&](auto tag) {
      using T = decltype(tag);
      auto* out = reinterpret_cast<T*>(to);
      each_line(held, pool, [&](std::int64_t from, std::int64_t at) {
        if constexpr (std::is_floating_point_v<T>)
          out[at] = static_cast<T>(grid[from].real());
        else
          out[at] = T(grid[from]);
      });
    };
    if (result_.dtype == DType::f32) return copy(float{});
    if (result_.dtype == DType::f64) return copy(double{});
    if (result_.dtype == DType::c64) return copy(std::complex<float>{});
    copy(Point{});
  }

  // The second half of the spectrum of real data mirrors the first.
  void mirror(Point* grid) const {
    const std::int64_t n = grid_.back();
    for (Point* line = grid; line < grid + elements_; line += n) {
      line[0].imag(0);
      if (n % 2 == 0) line[n / 2].imag(0);
      for (std::int64_t k = n / 2 + 1; k < n; ++k) line[k] = std::conj(line[n - k]);
    }
  }

  void transform(Point* grid, std::size_t axis, bool inverse, ThreadPool& pool) const {
    const std::int64_t n = grid_[axis];
    if (n < 2) return;
    std::int64_t inner = 1;
    for (std::size_t d = axis + 1; d < grid_.size(); ++d) inner *= grid_[d];
    const std::int64_t lines = elements_ / n,
                       group = std::max<std::int64_t>(1, cost::kTransformPart / n);
    const kissfft<double>& plan = plans_[axis - (grid_.size() - axes_)];
    const double scale = inverse ? 1.0 / static_cast<double>(n) : 1.0;
    pool.parallel_for((lines + group - 1) / group, [&](std::int64_t part, int) {
      // It has a scratch of its own. NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
      const kissfft<double> own = plan;
      std::vector<Point> in(static_cast<std::size_t>(n)), out(in.size());
      for (std::int64_t l = part * group; l < std::min(lines, (part + 1) * group); ++l) {
        Point* line = grid + l / inner * n * inner + l % inner;
        for (std::int64_t k = 0; k < n; ++k) in[static_cast<std::size_t>(k)] = line[k * inner];
        own.transform(in.data(), out.data());
        for (std::int64_t k = 0; k < n; ++k)
          line[k * inner] = out[static_cast<std::size_t>(k)] * scale;
      }
    });
  }

  Type operand_, result_;
  std::string kind_;
  std::size_t axes_;
  std::vector<kissfft<double>> plans_;  // one per transformed axis
  Shape grid_;
  std::int64_t elements_ = 1;
};

}  // namespace

std::unique_ptr<LibraryCall> fft_call(const Program& program, const Op& op) {
  const Type& operand = program.type_of(program.operands(op)[0]);
  const Type& result = program.type_of(program.result(op, 0));
  const std::size_t axes = integers_or(program.attr(op, "fft_length")).size();
  if (operand.elements() == 0 || result.elements() == 0) return nullptr;
  return std::make_unique<FftCall>(operand, result, word_or(program.attr(op, "fft_type"), "FFT"),
                                   axes);
}

}  // namespace heddle::cpu
