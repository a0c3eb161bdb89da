// Discrete Fourier transforms of lines that lie side by side: number k of every line, then number k
// + 1.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::cpu {

// Real and imaginary parts, each dense.
template <typename T>
struct Parts {
  T *re = nullptr, *im = nullptr;
};

// Transforms of one length, forward and not scaled. Lengths of small prime factors go by passes of
// these factors, all others by a convolution of such a length (Bluestein's way).
template <typename T>
class LineTransform {
 public:
  explicit LineTransform(std::int64_t n);

  // Numbers of a line that `data` and `room` need space for; `data` has n of them.
  std::int64_t space() const { return way_ ? way_->space() : n_; }
  // Gives the one of both that the result is in; the other one is overwritten.
  Parts<T> run(Parts<T> data, Parts<T> room, std::int64_t lines) const;
  // With the other sign of exponents.
  Parts<T> run_back(Parts<T> data, Parts<T> room, std::int64_t lines) const {
    const Parts<T> turned = run({data.im, data.re}, {room.im, room.re}, lines);
    return {turned.im, turned.re};
  }

 private:
  struct Pass {
    std::int64_t radix = 0, rest = 0;  // rest: the length of what remains
    std::vector<T>
        turns;  // for each number of the rest: exp(-2πi/length)^number to the powers 1 to radix - 1
    std::vector<T> circle;  // exp(-2πi k/radix), of radices without code of their own
  };

  Parts<T> convolve(Parts<T> data, Parts<T> room, std::int64_t lines) const;

  std::int64_t n_;
  std::vector<Pass> passes_;
  std::unique_ptr<LineTransform> way_;  // of the length of the convolution
  std::vector<T> chirp_, spectrum_;     // exp(-πi k²/n), and what its conjugate is transformed to
};

// exp(-2πi k/n), to the last bit of T or the one before.
template <typename T>
void unit_root(std::int64_t k, std::int64_t n, T& re, T& im);

}  // namespace heddle::cpu
