// fft: lines along each axis, some side by side in vectors, in the precision of the data.
#include <complex>

#include "cost/sharing.h"
#include "device/cpu/calls.h"
#include "device/cpu/fft_order.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle::cpu {

namespace {

constexpr std::int64_t kMostKept = 1 << 22;  // bytes that a thread keeps for the next transform

// Memory of the calling thread: fresh pages would take longer than a short transform.
template <typename T>
class Room {
 public:
  explicit Room(std::int64_t numbers) {
    const auto bytes = static_cast<std::size_t>(numbers) * sizeof(T);
    if (bytes > static_cast<std::size_t>(kMostKept)) {
      own_ = Block::raw(bytes);
      return;
    }
    if (!kept() || kept()->size() < bytes) kept() = Block::raw(bytes);
  }
  T* numbers() const { return reinterpret_cast<T*>((own_ ? own_ : kept())->data()); }

 private:
  static std::shared_ptr<Block>& kept() {
    thread_local std::shared_ptr<Block> block;
    return block;
  }
  std::shared_ptr<Block> own_;
};

// Some lines of a tensor along one axis: elements that are `step` apart.
class Lines {
 public:
  Lines(std::int64_t length, std::int64_t step, std::int64_t first, std::int64_t count)
      : length_(length), step_(step), count_(count) {
    for (std::int64_t q = 0; q < count; ++q)
      starts_[q] = (first + q) / step * step * length + (first + q) % step;
    is_dense_ = starts_[count - 1] - starts_[0] == count - 1;
  }

  // ---- eight lines, as fft_order.h takes them: by rows, by columns or not at all
  bool are_rows() const { return count_ == kSide && step_ == 1; }
  bool are_columns() const { return count_ == kSide && is_dense_ && step_ > 1; }
  std::int64_t first() const { return starts_[0]; }
  std::int64_t length() const { return length_; }
  std::int64_t step() const { return step_; }

  // Element k of all lines, then element k + 1, with k and the number of the line.
  template <typename T, typename Visit>
  void each(T* tensor, Visit visit) const {
    for (std::int64_t k = 0; k < length_; ++k, tensor += step_) {
      if (is_dense_)
        for (std::int64_t q = 0; q < count_; ++q) visit(tensor[starts_[0] + q], k, q);
      else
        for (std::int64_t q = 0; q < count_; ++q) visit(tensor[starts_[q]], k, q);
    }
  }

 private:
  std::int64_t length_, step_, count_;
  std::int64_t starts_[kSide] = {};
  bool is_dense_;
};

// What one axis of a transform does.
enum class Along { forward, back, from_real, to_real };

template <typename T>
class AxisTransform {
 public:
  using Point = std::complex<T>;

  AxisTransform(Along along, std::int64_t n)
      : along_(along), n_(n), halved_(is_real() && n % 2 == 0), lines_(halved_ ? n / 2 : n) {
    if (!halved_) return;
    roots_.resize(static_cast<std::size_t>(n + 2));
    for (std::int64_t k = 0; k <= n / 2; ++k)
      unit_root(k, n, roots_[static_cast<std::size_t>(2 * k)],
                roots_[static_cast<std::size_t>(2 * k + 1)]);
  }

  // From lines of the operand to as many of the result, which may be the same place.
  void run(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t step,
           ThreadPool& pool) const {
    const std::int64_t batches = (count + kSide - 1) / kSide;
    const std::int64_t group = std::max<std::int64_t>(1, cost::kTransformPart / (n_ * kSide));
    pool.parallel_for((batches + group - 1) / group, [&](std::int64_t part, int) {
      const std::int64_t space = (lines_.space() + 1) * kSide;
      const Room<T> memory(4 * space);
      const Parts<T> data{memory.numbers(), memory.numbers() + space},
          room{data.im + space, data.im + 2 * space};
      for (std::int64_t b = part * group; b < std::min(batches, (part + 1) * group); ++b) {
        const std::int64_t first = b * kSide, side = std::min(kSide, count - first);
        const std::int64_t half = n_ / 2 + 1;
        read(from, Lines(along_ == Along::to_real ? half : n_, step, first, side), side, data);
        write(transformed(data, room, side), side, to,
              Lines(along_ == Along::from_real ? half : n_, step, first, side));
      }
    });
  }

 private:
  bool is_real() const { return along_ == Along::from_real || along_ == Along::to_real; }
  bool is_back() const { return along_ == Along::back || along_ == Along::to_real; }

  void read(const std::byte* from, const Lines& lines, std::int64_t side, Parts<T> data) const {
    const T* numbers = reinterpret_cast<const T*>(from);
    if (along_ == Along::from_real) {
      if (halved_ && lines.are_rows())  // as if they were complex
        return take_rows(numbers + lines.first(), n_, n_ / 2, data);
      if (halved_) {  // even places are real parts, odd ones imaginary
        lines.each(numbers, [&](T x, std::int64_t k, std::int64_t q) {
          (k % 2 == 0 ? data.re : data.im)[k / 2 * side + q] = x;
        });
      } else {
        lines.each(numbers, [&](T x, std::int64_t k, std::int64_t q) {
          data.re[k * side + q] = x, data.im[k * side + q] = 0;
        });
      }
      return;
    }
    numbers += 2 * lines.first();
    if (lines.are_rows())
      take_rows(numbers, 2 * lines.length(), lines.length(), data);
    else if (lines.are_columns())
      take_columns(numbers, 2 * lines.step(), lines.length(), data);
    else
      lines.each(reinterpret_cast<const Point*>(from),
                 [&](const Point& x, std::int64_t k, std::int64_t q) {
                   data.re[k * side + q] = x.real(), data.im[k * side + q] = x.imag();
                 });
    if (along_ == Along::to_real) complete(data, side);
  }

  // Real data has a real sum, and what comes after the middle mirrors what comes before.
  void complete(Parts<T> data, std::int64_t side) const {
    std::fill_n(data.im, side, T(0));
    if (n_ % 2 == 0) std::fill_n(data.im + n_ / 2 * side, side, T(0));
    if (halved_) return;
    for (std::int64_t k = n_ / 2 + 1; k < n_; ++k)
      for (std::int64_t q = 0; q < side; ++q) {
        data.re[k * side + q] = data.re[(n_ - k) * side + q];
        data.im[k * side + q] = -data.im[(n_ - k) * side + q];
      }
  }

  Parts<T> transformed(Parts<T> data, Parts<T> room, std::int64_t side) const {
    const std::int64_t half = n_ / 2;
    if (along_ == Along::to_real && halved_)
      join_halves(data, roots_.data(), half, true, T(1), side);
    const Parts<T> result =
        is_back() ? lines_.run_back(data, room, side) : lines_.run(data, room, side);
    if (along_ == Along::from_real && halved_) {
      for (std::int64_t q = 0; q < side; ++q)  // the spectrum comes round
        result.re[half * side + q] = result.re[q], result.im[half * side + q] = result.im[q];
      join_halves(result, roots_.data(), half, false, T(0.5), side);
    }
    return result;
  }

  void write(Parts<T> result, std::int64_t side, std::byte* to, const Lines& lines) const {
    const T scale = is_back() ? T(1) / static_cast<T>(n_) : T(1);
    T* numbers = reinterpret_cast<T*>(to);
    const bool as_complex = along_ != Along::to_real;
    if (lines.are_rows() && (as_complex || halved_)) {
      const std::int64_t wide = as_complex ? 2 * lines.length() : n_;  // numbers of a line
      give_rows(result, numbers + lines.first() * (as_complex ? 2 : 1), wide, wide / 2, scale);
    } else if (lines.are_columns() && as_complex) {
      give_columns(result, numbers + 2 * lines.first(), 2 * lines.step(), lines.length(), scale);
    } else if (as_complex) {
      lines.each(reinterpret_cast<Point*>(to), [&](Point& x, std::int64_t k, std::int64_t q) {
        x = Point(result.re[k * side + q] * scale, result.im[k * side + q] * scale);
      });
    } else if (halved_) {
      lines.each(reinterpret_cast<T*>(to), [&](T& x, std::int64_t k, std::int64_t q) {
        x = (k % 2 == 0 ? result.re : result.im)[k / 2 * side + q] * scale;
      });
    } else {
      lines.each(reinterpret_cast<T*>(to), [&](T& x, std::int64_t k, std::int64_t q) {
        x = result.re[k * side + q] * scale;
      });
    }
  }

  Along along_;
  std::int64_t n_;
  bool halved_;
  LineTransform<T> lines_;
  std::vector<T> roots_;  // exp(-2πi k/n) up to the middle, where real numbers are taken two by two
};

template <typename T>
class FftCall final : public LibraryCall {
 public:
  FftCall(const Type& operand, const Type& result, std::string_view kind, std::size_t axes)
      : kind_(kind),
        axes_(axes),
        real_(kind == "IRFFT" ? result.shape : operand.shape),
        half_(kind == "IRFFT" ? operand.shape : result.shape) {
    const std::size_t last = real_.size() - 1;
    const bool back = kind == "IFFT" || kind == "IRFFT";
    const Along at_last = kind == "RFFT"    ? Along::from_real
                          : kind == "IRFFT" ? Along::to_real
                          : back            ? Along::back
                                            : Along::forward;
    for (std::size_t d = real_.size() - axes; d < last; ++d)
      steps_.push_back({d, AxisTransform<T>(back ? Along::back : Along::forward, real_[d])});
    // Real numbers come first, or last.
    steps_.insert(kind == "IRFFT" ? steps_.end() : steps_.begin(),
                  {last, AxisTransform<T>(at_last, real_[last])});
  }

  std::string text() const override {
    std::string lengths;
    for (std::size_t d = real_.size() - axes_; d < real_.size(); ++d)
      lengths += (lengths.empty() ? "" : "x") + std::to_string(real_[d]);
    return fmt::format("{} {}", kind_, lengths);
  }
  // Half a spectrum does not fit into the real numbers that it becomes.
  std::int64_t workspace_bytes() const override {
    return kind_ == "IRFFT" && steps_.size() > 1
               ? count(half_) * static_cast<std::int64_t>(2 * sizeof(T))
               : 0;
  }

  Verdict run(const CallFrame& frame) const override {
    const std::byte* from = frame.operands[0];
    for (const auto& [axis, transform] : steps_) {
      const bool is_last = axis + 1 == real_.size();
      std::byte* to = workspace_bytes() != 0 && !is_last ? frame.workspace : frame.results[0];
      std::int64_t step = 1;
      for (std::size_t d = axis + 1; d < half_.size(); ++d) step *= half_[d];
      transform.run(from, to, count(half_) / half_[axis], step, frame.pool);
      from = to;
    }
    return yes();
  }

 private:
  static std::int64_t count(const Shape& shape) {
    std::int64_t all = 1;
    for (const std::int64_t n : shape) all *= n;
    return all;
  }

  std::string kind_;
  std::size_t axes_;
  Shape real_, half_;  // of the real side, and of the complex one, where there is one
  std::vector<std::pair<std::size_t, AxisTransform<T>>> steps_;
};

}  // namespace

std::unique_ptr<LibraryCall> fft_call(const Program& program, const Op& op) {
  const Type& operand = program.type_of(program.operands(op)[0]);
  const Type& result = program.type_of(program.result(op, 0));
  const std::size_t axes = integers_or(program.attr(op, "fft_length")).size();
  if (operand.elements() == 0 || result.elements() == 0) return nullptr;
  const std::string_view kind = word_or(program.attr(op, "fft_type"), "FFT");
  if (operand.dtype == DType::f64 || operand.dtype == DType::c128)
    return std::make_unique<FftCall<double>>(operand, result, kind, axes);
  return std::make_unique<FftCall<float>>(operand, result, kind, axes);
}

}  // namespace heddle::cpu
