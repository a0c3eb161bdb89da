#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "heddle/layout_world.h"
#include "heddle/notation.h"

namespace heddle {

namespace {

// Axes that a text names behind '@' and nobody knows: they join the mesh with an open size.
std::vector<AxisId> declare_axes(const std::string& text, AxisRegistry& axes) {
  std::vector<AxisId> added;
  for (std::size_t at = text.find('@'); at != text.npos; at = text.find('@', at + 1)) {
    const std::size_t from = text.find_first_not_of(" \t\n", at + 1);
    if (from == text.npos) break;
    std::size_t to = from;
    while (to < text.size() && is_name("a" + text.substr(from, std::min(to + 1 - from, 70UL))))
      ++to;
    const std::string name = text.substr(from, to - from);
    if (!is_name(name) || axes.find(name)) continue;  // the parser will say what is wrong
    added.push_back(axes.add({name, AxisKind::mesh, Scope::world, Scope::device, 0}).value());
  }
  return added;
}

Expected<SymbolSizes> read_bindings(const WorldText& said, const AxisRegistry& axes) {
  SymbolSizes values;
  for (const std::string& binding : said.bindings) {
    const std::size_t equals = std::min(binding.find('='), binding.size());
    const std::string name = binding.substr(0, equals);
    const std::string number = binding.substr(std::min(equals + 1, binding.size()));
    std::int64_t value = 0;
    const char* const end = number.data() + number.size();
    const auto [stop, problem] = std::from_chars(number.data(), end, value);
    if (!is_name(name) || number.empty() || problem != std::errc() || stop != end || value < 1)
      return reason("bind {}: write NAME=SIZE with a size of at least 1, as in n=16",
                    shortened(binding, 60));
    const auto symbol = axes.find_symbol(name);
    if (!symbol) return reason("bind {}: no size in the layout is named {}", binding, name);
    if (values.contains(*symbol)) return reason("bind gives {} twice", name);
    values[*symbol] = value;
  }
  return values;
}

// The last position on the axis that a layout reaches, plus one.
std::int64_t reach(const std::vector<Layout>& layouts, AxisId axis) {
  std::int64_t size = 1;
  for (const Layout& layout : layouts) {
    std::int64_t last = layout.offset_on(axis).factor();
    for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
      for (const Iter& i : *list)
        if (i.axis == axis && i.stride.factor() > 0)
          last += i.stride.factor() * (i.extent.factor() - 1);
    size = std::max(size, last + 1);
  }
  return size;
}

// Elements without a place have a meaning and are surely a mistake.
Verdict check_covered(const Layout& layout, const std::string& text) {
  if (const auto ok = check_covers(layout); !ok)
    return reason("{}: {}", shortened(text, 60), ok.reason());
  return yes();
}

// An axis whose size nobody gave, cut twice the same way: as two parts of it, or by mistake?
Verdict check_used_once(const Layout& layout, AxisId axis, const AxisRegistry& axes) {
  std::vector<Iter> uses;
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      if (i.axis == axis) uses.push_back(i);
  for (std::size_t i = 0; i < uses.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (uses[i].extent == uses[j].extent)
        return reason(
            "axis {0} is used twice with {1} positions: one axis does one thing at a time; use two "
            "axes, or give a mesh, {0}=SIZE, if these are parts of it",
            axes[axis].name, uses[i].extent.factor());
  return yes();
}

}  // namespace

Expected<Layout> LayoutWorld::read(const std::string& text) {
  HEDDLE_TRY(const Layout layout, parse_layout(text, axes));
  const auto bound = bind_sizes(layout, sizes);
  if (!bound) return reason("{}: {}", shortened(text, 60), with_names(bound.reason(), axes));
  HEDDLE_TRY_VOID(check_covered(*bound, text));
  return *bound;
}

Verdict add_kernel_axes(LayoutWorld& world, const WorldText& said,
                        const std::vector<Layout>& layouts) {
  for (const Layout& layout : layouts)
    if (!layout.concrete()) return yes();  // how far it reaches is open
  std::string mesh = said.mesh;
  if (mesh.empty() && !world.mesh.axes().empty()) mesh = world.mesh.str();
  std::string added;
  for (const AxisId axis : world.axes.ids()) {
    const std::int64_t size = reach(layouts, axis);
    if (world.axes[axis].kind != AxisKind::kernel || size == 1 || world.mesh.find(axis) != nullptr)
      continue;
    const std::string& name = world.axes[axis].name;
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : ",", name, size);
    added += (added.empty() ? "" : ",") + name;
  }
  if (added.empty()) return yes();
  HEDDLE_TRY(world.mesh, Mesh::parse(mesh, world.axes));
  if (!said.mesh.empty()) world.inferred_axes = added;
  world.inferred = true;
  return yes();
}

Expected<LayoutWorld> make_world(const WorldText& said, const std::vector<std::string>& texts) {
  LayoutWorld world{AxisRegistry::standard(), {}, false, {}, {}};
  HEDDLE_TRY(world.mesh, Mesh::parse(said.mesh, world.axes));
  std::vector<AxisId> added;
  if (said.mesh.empty())
    for (const std::string& text : texts)
      for (const AxisId axis : declare_axes(text, world.axes)) added.push_back(axis);
  std::vector<Layout> layouts;
  for (const std::string& text : texts) {
    HEDDLE_TRY(Layout layout, world.read(text));
    layouts.push_back(std::move(layout));
  }
  HEDDLE_TRY(world.sizes, read_bindings(said, world.axes));
  for (Layout& layout : layouts) {
    HEDDLE_TRY(layout, bind_sizes(layout, world.sizes));
    if (!layout.concrete()) return world;  // how far it reaches is open
  }
  if (added.empty()) return world;
  for (const AxisId axis : added)
    for (const Layout& layout : layouts) HEDDLE_TRY_VOID(check_used_once(layout, axis, world.axes));
  std::string mesh;
  for (const AxisId axis : added)
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : ",", world.axes[axis].name,
                        reach(layouts, axis));
  HEDDLE_TRY(world.mesh, Mesh::parse(mesh, world.axes));
  world.inferred = true;
  return world;
}

}  // namespace heddle
