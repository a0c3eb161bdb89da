// The way of eight lines into the order of a LineTransform, number k of every line beside each
// other, and back; and what transforms of real numbers have to join. By whole vectors.
#pragma once

#include "device/cpu/fft_lines.h"

namespace heddle::cpu {

constexpr std::int64_t kSide = 8;  // lines that are transformed at the same time

// Lines of `count` complex numbers that lie in one piece, `apart` numbers of T from line to line.
template <typename T>
void take_rows(const T* lines, std::int64_t apart, std::int64_t count, Parts<T> to);
template <typename T>
void give_rows(Parts<T> from, T* lines, std::int64_t apart, std::int64_t count, T scale);

// Number k of all lines in one piece, `apart` numbers of T from there to number k + 1.
template <typename T>
void take_columns(const T* lines, std::int64_t apart, std::int64_t count, Parts<T> to);
template <typename T>
void give_columns(Parts<T> from, T* lines, std::int64_t apart, std::int64_t count, T scale);

// Between the spectrum of real numbers and that of half as many complex ones, which hold two each:
// the parts of even and of odd places, the latter turned by `roots`, exp(-πi k/half). The same step
// both ways but for the sign of the turn.
template <typename T>
void join_halves(Parts<T> data, const T* roots, std::int64_t half, bool to_real, T scale,
                 std::int64_t side);

}  // namespace heddle::cpu
