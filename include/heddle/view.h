// Views of a tensor as index maps: reshape, transpose, broadcast, slice, one after the other.
#pragma once

#include <variant>

#include "heddle/layout.h"

namespace heddle {

class View {
 public:
  // Same elements in row-major order, other sizes.
  static View reshape(std::vector<Dim> shape);
  // Result dimension i is operand dimension order[i].
  static View transpose(std::vector<std::size_t> order);
  // Operand dimension i is result dimension dims[i]; size 1 stretches, other result dims are new.
  static View broadcast(std::vector<Dim> shape, std::vector<std::size_t> dims);
  // Result index i is operand index start + i * step.
  static View slice(Index start, Index size, Index step = {});

  // This view, then another one of its result.
  View then(const View& next) const;

  struct Reshape {
    std::vector<Dim> shape;
  };
  struct Transpose {
    std::vector<std::size_t> order;
  };
  struct Broadcast {
    std::vector<Dim> shape;
    std::vector<std::size_t> dims;
  };
  struct Slice {
    Index start, size, step;
  };
  using Step = std::variant<Reshape, Transpose, Broadcast, Slice>;
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

// The layout of the view's result: compose(L, v)(y) = L(v(y)). A slice that no padding-free layout
// can express keeps the digits and moves the origin.
Expected<Layout> compose(const Layout& layout, const View& view);

}  // namespace heddle
