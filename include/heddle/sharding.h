// Shardings of the text (sdy) as layouts on a mesh, and back. This is the one place that knows how.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/attr.h"
#include "heddle/layout.h"
#include "heddle/mesh.h"

namespace heddle {

// A mesh that a program declares (sdy.mesh).
struct MeshDecl {
  std::string name;
  Mesh mesh;                             // its axes under the names that the text gives them
  std::vector<std::int64_t> device_ids;  // in another order than 0, 1, …; mostly empty
  AttrDict attrs;
  friend bool operator==(const MeshDecl&, const MeshDecl&);
};

using AxisSizes = std::vector<std::pair<std::string, std::int64_t>>;
// A mesh of these axes. They enter the registry under their own names where those can name an axis
// and are free, and under similar ones elsewhere; axes of one name and size are one axis.
Expected<Mesh> make_mesh(const AxisSizes& axes, AxisRegistry& registry);

// What a sharding says beyond where the elements lie.
struct ShardingHints {
  // An axis of one position: no layout sees it. `place` is where it stands in its list.
  struct UnitAxis {
    std::size_t place;
    std::string name;
    friend bool operator==(const UnitAxis&, const UnitAxis&) = default;
  };
  struct Dim {
    bool open = false;           // may be split further
    std::int64_t priority = -1;  // -1: none given
    std::vector<UnitAxis> unit_axes;
    friend bool operator==(const Dim&, const Dim&) = default;
  };
  std::vector<Dim> dims;                 // none where the text gives none: a tensor on one device
  std::vector<ShardingAxis> replicated;  // axes that must stay without use
  std::vector<UnitAxis> unreduced_unit_axes;
  friend bool operator==(const ShardingHints&, const ShardingHints&) = default;
};

// Where a value lies on a mesh of its program, and what its author left open.
struct ValueLayout {
  std::uint32_t mesh = 0;  // into Program::meshes
  Layout layout;
  ShardingHints hints;
  friend bool operator==(const ValueLayout&, const ValueLayout&) = default;
};

// The digits that a part of an axis stands for: c -> c / stride % size.
struct AxisPart {
  std::int64_t size = 1, stride = 1;
};
// "x" or "x":(2)4 of an axis with n positions; a reason where the axis has no such part.
Expected<AxisPart> axis_part(std::int64_t n, const ShardingAxis& axis);

// The layout of a value of this type: blocks over the axes, padding where they are uneven, copies
// along axes without use, a pending sum along unreduced ones, row-major memory on `mem`.
Expected<ValueLayout> to_layout(const Sharding& sharding, const MeshDecl& mesh, const Type& type,
                                AxisId mem);
// Says no where no sharding has this layout.
Expected<Sharding> to_sharding(const ValueLayout& layout, const MeshDecl& mesh, const Type& type,
                               AxisId mem);

}  // namespace heddle
