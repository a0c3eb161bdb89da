// What `heddle layout show` and `heddle layout plan` share.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "heddle/layout.h"
#include "heddle/mesh.h"
#include "terminal.h"

namespace heddle::cli {

void add_layout_show(CLI::App& layout);
void add_layout_plan(CLI::App& layout);

// --mesh, --bind, --json, --plain
struct LayoutOptions {
  ReportOptions report;
  std::string mesh;
  std::vector<std::string> bindings;  // "n=16"
};
void add_layout_options(CLI::App& command, LayoutOptions& options);

// The axes that layouts can name, the mesh among them, and numbers for symbolic sizes.
struct LayoutWorld {
  AxisRegistry axes;
  Mesh mesh;
  bool inferred = false;      // the mesh, or a part of it, is what the layouts themselves name
  std::string inferred_axes;  // which part, where --mesh gives the others
  std::map<SymbolId, std::int64_t> sizes;

  // Reads a layout and binds its sizes. Throws Error.
  Layout read(const std::string& text);
};

// Puts kernel axes that the layouts use and --mesh does not name on the mesh, as far as the layouts
// reach: data can then be moved over them. Throws Error.
void add_kernel_axes(LayoutWorld& world, const LayoutOptions& options,
                     const std::vector<Layout>& layouts);

// The standard axes and those of --mesh. Without --mesh, an axis that only the texts know becomes
// a mesh axis, as long as the layouts reach. Throws Error, also for texts that are no layouts.
LayoutWorld make_world(const LayoutOptions& options, const std::vector<std::string>& texts);

}  // namespace heddle::cli
