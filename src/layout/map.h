// Point-wise evaluation of a concrete layout, for enumeration: tests, simulator, footprints.
#pragma once

#include "heddle/layout.h"

namespace heddle {

// Positions as dense vectors over axes(), so that enumeration does not allocate per element.
class LayoutMap {
 public:
  // The layout must be concrete. Without fibres only r = 0 and p = 0 can be asked for.
  explicit LayoutMap(const Layout& layout, bool fibres = true);

  const std::vector<AxisId>& axes() const { return axes_; }
  std::size_t replicas() const { return replica_offsets_.size(); }
  std::size_t partials() const { return partial_offsets_.size(); }

  // Whether x has a cell: valid and inside the padded box.
  bool has(std::span<const std::int64_t> x) const;
  // The position of x for replica r and partial p, without swizzle in `raw`.
  std::vector<std::int64_t> at(std::span<const std::int64_t> x, std::size_t r = 0,
                               std::size_t p = 0) const;
  Coord coord(const std::vector<std::int64_t>& position) const;

  // Visits every cell: owned ones, then halo copies (owned = false).
  using Visit =
      std::function<void(std::span<const std::int64_t> x, const std::vector<std::int64_t>& position,
                         std::size_t r, std::size_t p, bool owned)>;
  void for_each_cell(const Visit& visit, bool with_halo) const;
  void for_each_index(const std::function<void(std::span<const std::int64_t>)>& visit) const;

 private:
  struct Digit {
    std::int64_t extent, stride;
    int axis;  // index into axes_, -1 for none
  };
  void add_flat(std::int64_t flat, std::vector<std::int64_t>& position) const;
  std::vector<std::vector<std::int64_t>> offsets_of(const std::vector<Iter>& iters) const;
  int slot(AxisId axis) const;
  void finish(std::vector<std::int64_t>& position) const;

  Layout layout_;
  std::vector<AxisId> axes_;
  std::vector<Digit> digits_;
  std::vector<std::int64_t> padded_, size_, origin_;
  std::vector<std::int64_t> base_;
  std::vector<std::vector<std::int64_t>> replica_offsets_, partial_offsets_;
};

// Visits every index of a box of this shape in row-major order.
void for_each_index_of(std::span<const std::int64_t> shape,
                       const std::function<void(std::span<const std::int64_t>)>& visit);

}  // namespace heddle
