// Split: how a value is dealt out over the devices of one mesh. It is what a Layout says of the
// mesh, in the form that index rules work with: every dimension is a row of digits, some of which
// count positions along mesh axes and the others elements that one device has.
//
//   8 rows over x=2           x 4        [{"x"}]
//   8 = 2x4, the 4 over x=2   2 x 2      strided: device 0 has rows 0 1 4 5
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "heddle/mesh.h"
#include "heddle/program.h"

namespace heddle {

// A digit on a device, or positions (c / stride) % extent of an axis of the mesh.
struct SplitDigit {
  std::int64_t extent = 1;
  int axis = -1;  // into Mesh::axes(); -1: on the device
  std::int64_t stride = 1;
  bool local() const { return axis < 0; }
  friend auto operator<=>(const SplitDigit&, const SplitDigit&) = default;
};
using SplitAxes = std::vector<SplitDigit>;  // of mesh axes only, major before minor

std::int64_t total(const SplitAxes& axes);  // how many positions
// Whether two digits of one axis depend on each other: they share positions, or do not nest.
bool overlap(const SplitDigit& a, const SplitDigit& b);
bool overlap(const SplitAxes& a, const SplitDigit& b);

struct DimSplit {
  std::int64_t size = 1;
  std::vector<SplitDigit> digits;  // major before minor; none where the dimension is whole

  std::int64_t padded() const;  // what the digits cover; more than the size where blocks are uneven
  std::int64_t local() const;   // elements that one device has
  bool whole() const;           // on every device
  // Blocks over these axes.
  static DimSplit blocks(std::int64_t size, const SplitAxes& axes);
  // The axes, where the device's part is one block.
  bool is_block() const;
  SplitAxes axes() const;
  friend auto operator<=>(const DimSplit&, const DimSplit&) = default;
};

struct Split {
  std::vector<DimSplit> dims;
  SplitAxes pending;  // axes along which each device has a contribution
  ReduceOp reduce = ReduceOp::sum;

  static Split whole(const Type& type);
  bool is_whole() const;  // every device has all of it
  bool uses(const SplitDigit& digit) const;
  void settle();  // canonical form
  std::uint64_t hash() const;
  friend bool operator==(const Split&, const Split&) = default;
};

// What one device has of a value.
Type local_type(const Type& type, const Split& split);

// The layout with the same digits, row-major on each device, and back. Copies lie along all axes
// without use.
Expected<Layout> layout_of(const Split& split, const Mesh& mesh, AxisId mem);
Expected<Split> split_of(const Layout& layout, const Mesh& mesh);

// [{"x"}, {}] as sdy writes it, with pending={"y"}; digits where the split is strided.
std::string text_of(const Split& split, const Mesh& mesh);

// "dp, tp:(1)2"
std::string axes_text(const SplitAxes& axes, const Mesh& mesh);

// Where the elements of one device's part lie: position `device` counts row-major over the mesh.
// -1 where the part has room that no element fills.
std::vector<std::int64_t> elements_of(const DimSplit& dim, const Mesh& mesh, std::int64_t device);
// The digit's value there.
std::int64_t coordinate(const SplitDigit& digit, const Mesh& mesh, std::int64_t device);

}  // namespace heddle
