// A mesh with its axes, and layouts on it by their text.
#pragma once

#include "heddle/mesh.h"
#include "heddle/notation.h"
#include "heddle/view.h"

namespace heddle {

struct MeshMachine {
  AxisRegistry axes = AxisRegistry::standard();
  explicit MeshMachine(std::string_view mesh = "") { (void)Mesh::parse(mesh, axes).value(); }
  AxisId operator[](std::string_view name) const { return axes.require(name).value(); }
  Layout layout(std::string_view text) { return parse_layout(text, axes).value(); }
  std::int64_t at(const Layout& layout, const Index& x, std::string_view axis) const {
    return coord_on(position_of(layout, x).value(), (*this)[axis]);
  }
};

}  // namespace heddle
