// From which size on work of a CPU is shared out among its workers: what is smaller is over before
// a second worker has begun. All are about the same time, in the unit that each caller counts in.
#pragma once

#include <cstdint>

namespace heddle::cost {

// Evaluations of one node of a kernel, in vectors.
inline constexpr double kSharedEvaluations = 200'000;
// Products and sums of a matrix product, and of a convolution, which has to gather its operand.
inline constexpr double kSharedProducts = 1 << 18;
inline constexpr double kSharedConvolution = 1 << 19;
// Updates of a scatter, and elements of a windowed one.
inline constexpr std::int64_t kSharedUpdates = 1 << 15;
inline constexpr std::int64_t kSharedWindows = 1 << 14;
// Bytes of a copy, and of one part of a copy that is shared.
inline constexpr std::int64_t kSharedCopy = std::int64_t{1} << 18;
inline constexpr std::int64_t kCopyPart = std::int64_t{1} << 20;

// Bytes of one part of a slice that is updated; elements of one part of a conversion and of a
// transform.
inline constexpr std::int64_t kUpdatePart = 1 << 18, kConvertPart = 1 << 15,
                              kTransformPart = 1 << 13;
// Rows of a part that keeps a matrix product efficient, and columns of one of a scatter.
inline constexpr std::int64_t kLeastRows = 32, kLeastColumns = 64;
// Elements of a line from which on all workers sort it together.
inline constexpr std::int64_t kLongLine = 1 << 15;

// Parts per worker, so that one that is held up does not hold up all.
inline constexpr std::int64_t kPartsPerWorker = 4;

// Evaluations that the interpreter does in about the time that a compiler needs for a kernel.
inline constexpr double kQuickToInterpret = 1'000'000;

}  // namespace heddle::cost
