// Layout: how a logical tensor lies in physical space, over named axes from the mesh to memory.
//
// A logical index x with 0 <= x < size lies at u = x - origin inside the padded box. The flat
// (row-major) u is written in the mixed radix of `digits` D, and
//
//   cells(x) = { D(u) + offset + r + p }    r over the replicas R, p over the partials P
//
// Each r holds the same data; the value of x is the reduction of its cells over all p.
// A Layout is always in canonical form, so equal layouts are equal field by field.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heddle/axis.h"
#include "heddle/dim.h"
#include "heddle/error.h"

namespace heddle {

enum class ReduceOp : std::uint8_t { sum, product, min, max, logical_and, logical_or };
std::string_view name(ReduceOp op);

// One digit: value d in [0, extent) moves d * stride along `axis`.
struct Iter {
  Dim extent = 1;
  Dim stride = 0;
  AxisId axis = kNoAxis;
  friend bool operator==(const Iter&, const Iter&) = default;
};

// One logical dimension.
struct DimInfo {
  Dim size = 1;
  Dim padded = 1;            // what the digits cover; more than `size` where blocks are uneven
  std::int64_t origin = 0;   // the logical index that lies at u = 0
  std::int64_t halo_lo = 0;  // copies of neighbours kept before and after each innermost run
  std::int64_t halo_hi = 0;
  bool plain() const { return size == padded && origin == 0 && halo_lo == 0 && halo_hi == 0; }
  bool has_halo() const { return halo_lo != 0 || halo_hi != 0; }
  friend bool operator==(const DimInfo&, const DimInfo&) = default;
};

struct AxisOffset {
  AxisId axis = kNoAxis;
  Dim value = 0;
  friend bool operator==(const AxisOffset&, const AxisOffset&) = default;
};

// On one memory axis, after everything else: y = x >> base; x ^= ((y >> shift) & (2^bits - 1)) <<
// base.
struct Swizzle {
  AxisId axis = kNoAxis;
  std::uint8_t bits = 0, base = 0, shift = 0;
  std::int64_t apply(std::int64_t x) const {
    return x ^ (((x >> (base + shift)) & ((std::int64_t{1} << bits) - 1)) << base);
  }
  // Adding a multiple of this to an address commutes with the swizzle.
  std::int64_t period() const { return std::int64_t{1} << (base + shift + bits); }
  friend bool operator==(const Swizzle&, const Swizzle&) = default;
};

// A layout as written: any order, any redundancy. Layout::make turns it into a Layout.
struct LayoutParts {
  std::vector<DimInfo> dims;
  std::vector<Iter> digits;
  std::vector<Iter> replicas;
  std::vector<Iter> partials;
  ReduceOp reduce = ReduceOp::sum;
  std::vector<AxisOffset> offset;
  std::optional<Swizzle> swizzle;
};

class Layout {
 public:
  // A scalar on one device.
  Layout();
  // Canonicalises; says no where the parts do not fit together.
  static Expected<Layout> make(LayoutParts parts);

  std::size_t rank() const { return data_->parts.dims.size(); }
  const std::vector<DimInfo>& dims() const { return data_->parts.dims; }
  const std::vector<Iter>& digits() const { return data_->parts.digits; }
  const std::vector<Iter>& replicas() const { return data_->parts.replicas; }
  const std::vector<Iter>& partials() const { return data_->parts.partials; }
  ReduceOp reduce() const { return data_->parts.reduce; }
  const std::vector<AxisOffset>& offset() const { return data_->parts.offset; }
  const std::optional<Swizzle>& swizzle() const { return data_->parts.swizzle; }
  const LayoutParts& parts() const { return data_->parts; }

  Dim offset_on(AxisId axis) const;
  std::vector<Dim> padded_shape() const;
  // No symbolic sizes anywhere.
  bool concrete() const { return data_->concrete; }
  std::uint64_t hash() const { return data_->hash; }
  friend bool operator==(const Layout& a, const Layout& b);

 private:
  struct Data {
    LayoutParts parts;
    std::uint64_t hash = 0;
    bool concrete = true;
  };
  explicit Layout(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

// ---- meaning -----------------------------------------------------------------------------------

// A physical position: a value per axis, sorted by axis, for every axis the layout touches.
struct AxisValue {
  AxisId axis;
  std::int64_t value;
  friend auto operator<=>(const AxisValue&, const AxisValue&) = default;
};
using Coord = std::vector<AxisValue>;
std::int64_t coord_on(const Coord& coord, AxisId axis);

using Index = std::vector<std::int64_t>;

// Where x lies: the cell with r = 0 and p = 0.
Expected<Coord> position_of(const Layout& layout, std::span<const std::int64_t> x);
// Every cell of x: all replicas and partials.
Expected<std::vector<Coord>> cells(const Layout& layout, std::span<const std::int64_t> x);
// Whether a tensor of this shape can be laid out so: the flat sizes agree.
bool admits(const Layout& layout, std::span<const Dim> shape);
// 1 + the distance between the first and the last position on `axis`; the offset cancels.
Expected<Dim> span(const Layout& layout, AxisId axis);
// Whether every valid index has a cell.
bool covers(const Layout& layout);
// The same with a reason, for a layout without symbolic sizes.
Verdict check_covers(const Layout& layout);
// Replaces symbols by values.
Expected<Layout> bind_sizes(const Layout& layout, const std::map<SymbolId, std::int64_t>& values);

// Axes known, positions inside the axes' sizes, no two choices of digits on one cell.
Verdict validate(const Layout& layout, const AxisRegistry& axes);
// Kernel axes that are used chain without gaps (block, warp, lane; not block, lane).
Verdict check_scopes(const Layout& layout, const AxisRegistry& axes);

// ---- algebra -----------------------------------------------------------------------------------

using Digits = std::vector<Iter>;

// The digits cut at the boundaries of `shape`, one list per entry; no digit is reordered.
Expected<std::vector<Digits>> group(const Layout& layout, std::span<const Dim> shape);
// The coarsest shape that refines all given shapes (all of one total size).
Expected<std::vector<Dim>> common_refinement(std::span<const std::vector<Dim>> shapes);
// group by the common refinement of the shapes, and how many pieces each entry of each shape has.
struct GroupMany {
  std::vector<Dim> shape;
  std::vector<Digits> groups;
  std::vector<std::vector<std::size_t>> pieces;
};
Expected<GroupMany> group_many(const Layout& layout, std::span<const std::vector<Dim>> shapes);

// A over B: index x * shape(B) + y lies at A(x) * span(B) + B(y).
Expected<Layout> tile(const Layout& outer, const Layout& inner);
// The A with tile(A, inner) = whole.
Expected<Layout> untile(const Layout& whole, const Layout& inner);
// The B with tile(outer, B) = whole.
Expected<Layout> untile_outer(const Layout& whole, const Layout& outer);
// Index x * shape(B) + y lies at A(x) + B(y).
Expected<Layout> direct_sum(const Layout& outer, const Layout& inner);
// The A with direct_sum(A, inner) = whole.
Expected<Layout> unsum(const Layout& whole, const Layout& inner);

// The layout of x[start : start + size], with index 0 at `start`. Exact: a no means that no
// layout without padding or origin has this map.
Expected<Layout> slice(const Layout& layout, std::span<const std::int64_t> start,
                       std::span<const std::int64_t> size);
// Dimension i of the result is dimension order[i] of the layout.
Expected<Layout> permute(const Layout& layout, std::span<const std::size_t> order);

// n neighbouring elements of the last dimension become one (strides on `axis` shrink), and back.
Expected<Layout> pack(const Layout& layout, AxisId axis, std::int64_t n);
Expected<Layout> unpack(const Layout& layout, AxisId axis, std::int64_t n);

// ---- parts and roles ---------------------------------------------------------------------------

// Keeps positions on the axes that `keep` names; digits on other axes stay as digits that move
// nothing. The positions of complementary restrictions add up to the whole's.
Expected<Layout> restrict_to(const Layout& layout, const std::function<bool(AxisId)>& keep);
Expected<Layout> mesh_part(const Layout& layout, const AxisRegistry& axes);
Expected<Layout> block_part(const Layout& layout, const AxisRegistry& axes);   // down to blocks
Expected<Layout> thread_part(const Layout& layout, const AxisRegistry& axes);  // inside a block
Expected<Layout> storage_part(const Layout& layout, const AxisRegistry& axes);

// The tensor that one holder has: digits on memory axes only, each dimension its local extent.
Expected<Layout> local_part(const Layout& layout, const AxisRegistry& axes);

// What an axis does for a layout.
struct AxisRole {
  struct Split {
    std::size_t dim;
    Iter digit;
    Dim place;  // elements of the dimension that one step of the digit moves
  };
  std::vector<Split> splits;
  Dim copies = 1;
  Dim contributions = 1;
  Dim offset = 0;
  bool unused() const {
    return splits.empty() && copies.is(1) && contributions.is(1) && offset.is_zero();
  }
};
Expected<AxisRole> axis_role(const Layout& layout, AxisId axis);

// Elements, a power of two at most `limit`, that lie side by side and aligned on `axis` along the
// last dimension at every index.
std::int64_t vector_width(const Layout& layout, AxisId axis, std::int64_t limit);

// Positions on `outer` and `inner` become outer * inner_size + inner on `fused`, and back.
Expected<Layout> fuse_axes(const Layout& layout, AxisId outer, AxisId inner,
                           std::int64_t inner_size, AxisId fused);
Expected<Layout> split_axis(const Layout& layout, AxisId fused, std::int64_t inner_size,
                            AxisId outer, AxisId inner);

// ---- swizzle -----------------------------------------------------------------------------------

Expected<Layout> with_swizzle(const Layout& layout, Swizzle swizzle);

struct BankModel {
  int banks = 32;
  int bank_bytes = 4;
};
// How many times an access is replayed at worst: 1 is free of conflicts. `access` says which lane
// reads which element at which step (axes `lane` and `step`); vectors of `vector` elements.
struct ConflictReport {
  int worst_ways = 1;
  std::int64_t worst_step = 0;
  std::int64_t steps = 0;
};
Expected<ConflictReport> bank_conflicts(const Layout& memory, AxisId address, const Layout& access,
                                        AxisId lane, AxisId step, int element_bytes, int vector,
                                        BankModel model = {});

// ---- footprint ---------------------------------------------------------------------------------

// { start + sum of i_k * step_k : 0 <= i_k < count_k }, cut to [lo, hi).
struct StridedRun {
  struct Level {
    std::int64_t count, step;
    friend bool operator==(const Level&, const Level&) = default;
  };
  std::int64_t start = 0;
  std::vector<Level> levels;  // outermost first; steps shrink and levels do not overlap
  std::int64_t lo = 0, hi = 0;
  bool contains(std::int64_t x) const;
  std::int64_t count() const;
  void for_each(const std::function<void(std::int64_t)>& visit) const;
  friend bool operator==(const StridedRun&, const StridedRun&) = default;
};
// A product of runs, one per dimension.
struct Box {
  std::vector<StridedRun> dims;
  std::int64_t count() const;
  bool contains(std::span<const std::int64_t> x) const;
  friend bool operator==(const Box&, const Box&) = default;
};
// What the holder at `coord` (mesh and kernel axes; missing axes at 0) has. The boxes are disjoint;
// with the halo, boxes of one holder may share neighbours.
Expected<std::vector<Box>> footprint(const Layout& layout, const Coord& coord,
                                     const AxisRegistry& axes, bool with_halo = false);

}  // namespace heddle

template <>
struct std::hash<heddle::Layout> {
  std::size_t operator()(const heddle::Layout& layout) const { return layout.hash(); }
};
