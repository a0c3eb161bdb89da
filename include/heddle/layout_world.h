// What layouts in words are about: axes, a mesh, and numbers for symbolic sizes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "heddle/layout.h"
#include "heddle/mesh.h"

namespace heddle {

using SymbolSizes = std::map<SymbolId, std::int64_t>;

// What is said beside the layouts themselves.
struct WorldText {
  std::string mesh;
  std::vector<std::string> bindings;  // "n=16"
};

// The axes that layouts can name, the mesh among them, and numbers for symbolic sizes.
struct LayoutWorld {
  AxisRegistry axes;
  Mesh mesh;
  bool inferred = false;      // the mesh, or a part of it, is what the layouts themselves name
  std::string inferred_axes;  // which part, where the mesh that was said gives the others
  SymbolSizes sizes;

  // Reads a layout and binds its sizes.
  Expected<Layout> read(const std::string& text);
};

// Puts kernel axes that the layouts use and the mesh that was said does not name on the mesh, as
// far as the layouts reach: data can then be moved over them.
Verdict add_kernel_axes(LayoutWorld& world, const WorldText& said,
                        const std::vector<Layout>& layouts);

// The standard axes and those of the mesh. Without one, an axis that only the texts know becomes a
// mesh axis, as long as the layouts reach.
Expected<LayoutWorld> make_world(const WorldText& said, const std::vector<std::string>& texts);

}  // namespace heddle
