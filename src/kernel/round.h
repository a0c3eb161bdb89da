// What a worker of a device does of a stage in one turn, as a Layout: the threads of a block of a
// GPU, or a core with its vectors.
//
// Its dimensions are those of what is shared: [points, others] of a stage, [rows, points] of rows
// that stay in registers, [elements] of elements one after the other, [points] of a loop by
// vectors. A position lies at a thread (`thread`), among what that thread has under way at the same
// time (`reg`), and in one of its accesses (`vec`). Emitters read off it who has what; so does what
// is said of a kernel, which adds turns and blocks.
#pragma once

#include <vector>

#include "heddle/layout.h"

namespace heddle {

// The axes of kernels; beside those that every machine has, `turn` and `step` count what is done
// one after the other.
const AxisRegistry& kernel_axes();

enum class RoundAxis : std::uint8_t { thread, reg, vec };
AxisId kernel_axis(RoundAxis axis);

class Round {
 public:
  // One digit of a dimension: neighbours lie `apart` on the axis.
  struct Digit {
    RoundAxis axis = RoundAxis::thread;
    int extent = 1, apart = 1;
  };
  Round() : dims_(2) {}  // one position of one thread
  // By dimension, outermost first.
  explicit Round(const std::vector<std::vector<Digit>>& dims);

  const Layout& layout() const { return layout_; }
  const Digits& digits(std::size_t dim) const { return dims_[dim]; }
  std::size_t rank() const { return dims_.size(); }

  // Positions along a dimension that differ on this axis.
  int size(std::size_t dim, RoundAxis axis) const;
  int threads(std::size_t dim) const { return size(dim, RoundAxis::thread); }
  std::int64_t points(std::size_t dim) const { return layout_.dims()[dim].size.factor(); }
  // Accesses of one turn.
  int accesses(std::size_t dim) const { return threads(dim) * size(dim, RoundAxis::reg); }
  // Accesses from one that a thread has under way to its next.
  int apart(std::size_t dim) const;

 private:
  Layout layout_;
  std::vector<Digits> dims_;
};

// Digits of one dimension, outermost first; those of one position say nothing.
class RoundDimension {
 public:
  explicit RoundDimension(std::int64_t size) : size_(size) {}

  RoundDimension& by(std::int64_t extent, std::string_view axis);
  RoundDimension& by(const Digits& digits);
  void add_to(LayoutParts& parts) const;

 private:
  std::int64_t size_, padded_ = 1;
  Digits digits_;
};

}  // namespace heddle
